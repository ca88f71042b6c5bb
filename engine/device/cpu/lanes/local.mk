libcpu_a_SOURCES += \
	%D%/avx2.c \
	%D%/avx512.c \
	%D%/build.c %D%/build.h \
	%D%/conv.h \
	%D%/finish.c %D%/finish.h \
	%D%/kernels.h \
	%D%/lanes.h \
	%D%/linear.h \
	%D%/math.h \
	%D%/net.c %D%/net.h \
	%D%/pack.c %D%/pack.h \
	%D%/plain.c \
	%D%/point.h \
	%D%/pool.h \
	%D%/product.h \
	%D%/rows.h \
	%D%/run.c %D%/run.h \
	%D%/tiles.h \
	%D%/tiling.c %D%/tiling.h \
	%D%/winograd.h
