libcpu_a_SOURCES += \
	%D%/activation.c \
	%D%/add.c \
	%D%/conv.c \
	%D%/conv_run.c %D%/conv_run.h \
	%D%/deferred.c %D%/deferred.h \
	%D%/dropout.c \
	%D%/elementwise.c %D%/elementwise.h \
	%D%/flatten.c \
	%D%/fold.c %D%/fold.h \
	%D%/gather.c \
	%D%/global_pool.c \
	%D%/input.c %D%/input.h \
	%D%/linear.c \
	%D%/loss.c %D%/loss.h \
	%D%/pool.c \
	%D%/product.c %D%/product.h \
	%D%/update.c %D%/update.h
