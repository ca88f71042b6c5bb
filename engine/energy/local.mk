libserver_a_SOURCES += \
	%D%/counters.c %D%/counters.h \
	%D%/meter.c %D%/meter.h
