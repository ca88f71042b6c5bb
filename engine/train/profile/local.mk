libtrain_a_SOURCES += %D%/figures.c %D%/figures.h %D%/profile.c %D%/profile.h %D%/json.c
