libtrain_a_SOURCES += \
	%D%/order.c %D%/order.h \
	%D%/balance.c %D%/balance.h \
	%D%/load_balance.c \
	%D%/shares.c %D%/shares.h \
	%D%/split.c %D%/split.h
