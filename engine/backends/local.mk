libdevice_a_SOURCES += %D%/registry.c %D%/registry.h %D%/choice.c %D%/choice.h
