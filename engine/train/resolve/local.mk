libtrain_a_SOURCES += %D%/preflight.c %D%/preflight.h %D%/resolve.c %D%/devices.c
