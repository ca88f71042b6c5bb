libnet_a_SOURCES += \
	%D%/checksum.c %D%/checksum.h \
	%D%/safetensors.c %D%/safetensors.h \
	%D%/normalization.c %D%/normalization.h \
	%D%/stored.c %D%/stored.h \
	%D%/weights.c %D%/weights.h \
	%D%/file.c %D%/file.h
