libcpu_a_SOURCES += \
	%D%/amx.c \
	%D%/convolutions.h \
	%D%/gradients.h \
	%D%/kernels.h \
	%D%/tiles.h \
	%D%/values.h
