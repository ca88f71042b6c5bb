if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/activation.c \
	%D%/add.c \
	%D%/conv.c \
	%D%/dropout.c \
	%D%/flatten.c \
	%D%/global_pool.c \
	%D%/input.c \
	%D%/layer.c \
	%D%/linear.c \
	%D%/loss.c \
	%D%/norm.c %D%/norm.h \
	%D%/norm_run.c \
	%D%/pool.c \
	%D%/sgd.c \
	%D%/widen.c %D%/widen.h
endif
