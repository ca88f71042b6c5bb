# Other hosts, by ssh
libclient_a_SOURCES += \
	%D%/relay.c %D%/relay.h
