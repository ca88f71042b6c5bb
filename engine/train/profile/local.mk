libtrain_a_SOURCES += \
	%D%/confusion.c %D%/confusion.h \
	%D%/metrics.c %D%/metrics.h \
	%D%/json.c %D%/json.h \
	%D%/noise.c %D%/noise.h \
	%D%/profile.c %D%/profile.h \
	%D%/times.h
