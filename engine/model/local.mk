libnet_a_SOURCES += %D%/file.c %D%/file.h %D%/layers.c %D%/layers.h %D%/order.c %D%/order.h
