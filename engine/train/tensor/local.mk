libtrain_a_SOURCES += \
	%D%/exchange.c %D%/exchange.h \
	%D%/tensor.c %D%/tensor.h
