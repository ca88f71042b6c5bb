libtrain_a_SOURCES += \
	%D%/rendezvous.c %D%/rendezvous.h \
	%D%/sync.c %D%/sync.h \
	%D%/allreduce.c \
	%D%/central.c \
	%D%/choose.c \
	%D%/links.c \
	%D%/reduce_broadcast.c \
	%D%/stage.c
