libcpu_a_SOURCES += \
	%D%/lanes.h \
	%D%/avx2.c \
	%D%/avx512.c \
	%D%/build.c \
	%D%/conv.h \
	%D%/finish.c \
	%D%/kernels.h \
	%D%/linear.h \
	%D%/math.h \
	%D%/net.c %D%/net.h \
	%D%/pack.c \
	%D%/plain.c \
	%D%/point.h \
	%D%/pool.h \
	%D%/product.h \
	%D%/rows.h \
	%D%/run.c \
	%D%/tiles.h \
	%D%/winograd.c %D%/winograd.h
