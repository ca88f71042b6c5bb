libcpu_a_SOURCES += \
	%D%/algorithms.c %D%/algorithms.h \
	%D%/cache.c %D%/cache.h \
	%D%/choose.c %D%/choose.h \
	%D%/measure.c %D%/measure.h
