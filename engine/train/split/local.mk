libtrain_a_SOURCES += \
	%D%/order.c %D%/order.h \
	%D%/rebalance.c %D%/rebalance.h \
	%D%/reshare.c \
	%D%/shares.c %D%/shares.h \
	%D%/split.c %D%/split.h
