libdevice_a_SOURCES += %D%/bf16.h %D%/device.h %D%/collective.h %D%/exchange.h %D%/host_device.h \
	%D%/micro_batch.h %D%/pass.h %D%/update.h
# With the networks, as tests bring devices of their own.
libnet_a_SOURCES += %D%/optimizer.c %D%/optimizer.h
