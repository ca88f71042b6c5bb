libbase_a_SOURCES += \
	%D%/affinity.c %D%/affinity.h \
	%D%/local_socket.c %D%/local_socket.h \
	%D%/priority.c %D%/priority.h \
	%D%/process.c %D%/process.h \
	%D%/sha256.c %D%/sha256.h \
	%D%/shell.c %D%/shell.h \
	%D%/signals.c %D%/signals.h \
	%D%/startup.c %D%/startup.h
