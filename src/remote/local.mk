# Other hosts, by ssh
libbase_a_SOURCES += \
	%D%/command.c %D%/command.h \
	%D%/host.c %D%/host.h \
	%D%/line.c %D%/line.h \
	%D%/process.c %D%/process.h \
	%D%/relay.c %D%/relay.h
