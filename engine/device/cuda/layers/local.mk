if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/activation.c \
	%D%/add.c \
	%D%/conv.c \
	%D%/conv_plans.c %D%/conv_plans.h \
	%D%/dropout.c \
	%D%/epilogue.c %D%/epilogue.h \
	%D%/flatten.c \
	%D%/gather.c \
	%D%/global_pool.c \
	%D%/group_norm.c \
	%D%/input.c %D%/input.h \
	%D%/kinds.h \
	%D%/linear.c \
	%D%/loss.c %D%/loss.h \
	%D%/norm.c \
	%D%/norm_run.c %D%/norm_run.h \
	%D%/operands.c %D%/operands.h \
	%D%/pool.c \
	%D%/widen.c %D%/widen.h
endif
