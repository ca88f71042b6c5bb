libtrain_a_SOURCES += \
	%D%/predictor.c %D%/predictor.h \
	%D%/ranking.c %D%/ranking.h \
	%D%/reading.c %D%/reading.h
