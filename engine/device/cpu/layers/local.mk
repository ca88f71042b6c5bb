libcpu_a_SOURCES += \
	%D%/activation.c \
	%D%/add.c \
	%D%/dropout.c \
	%D%/elementwise.c %D%/elementwise.h \
	%D%/flatten.c \
	%D%/global_pool.c \
	%D%/input.c %D%/input.h \
	%D%/linear.c \
	%D%/loss.c %D%/loss.h \
	%D%/pool.c \
	%D%/sgd.c %D%/sgd.h
