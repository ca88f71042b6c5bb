libtrain_a_SOURCES += \
	%D%/predict.c %D%/predict.h \
	%D%/schedule.c %D%/schedule.h
