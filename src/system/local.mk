libbase_a_SOURCES += \
	%D%/affinity.c %D%/affinity.h \
	%D%/local_socket.c %D%/local_socket.h \
	%D%/signals.c %D%/signals.h
