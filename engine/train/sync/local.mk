libtrain_a_SOURCES += \
	%D%/barrier.c %D%/barrier.h \
	%D%/sync.c %D%/sync.h \
	%D%/allreduce.c \
	%D%/central.c \
	%D%/choose.c \
	%D%/collective.c \
	%D%/reduce_broadcast.c \
	%D%/stage.c
