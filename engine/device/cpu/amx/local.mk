libcpu_a_SOURCES += \
	%D%/amx.c \
	%D%/avx512.c \
	%D%/blocked.h \
	%D%/kernels.h \
	%D%/packing.h \
	%D%/tiles.h \
	%D%/values.h \
	%D%/weights.h
