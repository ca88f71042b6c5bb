libdevice_a_SOURCES += %D%/registry.c %D%/registry.h
