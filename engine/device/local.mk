libdevice_a_SOURCES += %D%/device.h %D%/collective.h
