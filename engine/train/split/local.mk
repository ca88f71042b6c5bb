libtrain_a_SOURCES += \
	%D%/balance.c %D%/balance.h \
	%D%/division.h \
	%D%/micro.c %D%/micro.h \
	%D%/order.c %D%/order.h \
	%D%/shares.c %D%/shares.h \
	%D%/split.c %D%/split.h \
	%D%/stages.c %D%/stages.h
