libdevice_a_SOURCES += %D%/backend.c
