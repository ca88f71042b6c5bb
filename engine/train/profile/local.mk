libtrain_a_SOURCES += %D%/profile.c %D%/profile.h %D%/json.c %D%/profiling.c
