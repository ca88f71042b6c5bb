libcpu_a_SOURCES += %D%/batchnorm.c %D%/batchnorm.h %D%/math.c %D%/run.c
