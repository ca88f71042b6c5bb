libtrain_a_SOURCES += \
	%D%/devices.c \
	%D%/inspect.c \
	%D%/preflight.c %D%/preflight.h \
	%D%/resolve.c
