libdevice_a_SOURCES += %D%/device.h %D%/optimizer.h %D%/collective.h
