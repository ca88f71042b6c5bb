libcpu_a_SOURCES += \
	%D%/batchnorm.c %D%/batchnorm.h \
	%D%/groupnorm.c \
	%D%/run.c %D%/run.h \
	%D%/statistics.c %D%/statistics.h
