libtrain_a_SOURCES += \
	%D%/across.c %D%/across.h \
	%D%/barrier.c %D%/barrier.h \
	%D%/choose.c %D%/choose.h \
	%D%/collective.c %D%/collective.h \
	%D%/host.c %D%/host.h \
	%D%/sums.h \
	%D%/sync.c %D%/sync.h \
	%D%/transport.c %D%/transport.h \
	%D%/group.h
