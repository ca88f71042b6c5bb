libserver_a_SOURCES += \
	%D%/connections.c %D%/connections.h \
	%D%/costs.c %D%/costs.h \
	%D%/notify.c %D%/notify.h \
	%D%/options.h \
	%D%/parts.c %D%/parts.h \
	%D%/state.c %D%/state.h \
	%D%/work.c %D%/work.h
