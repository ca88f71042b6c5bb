libclient_a_SOURCES += \
	%D%/client.c %D%/client.h \
	%D%/state.h \
	%D%/open.c %D%/open.h \
	%D%/peer.c %D%/peer.h \
	%D%/spawn.c %D%/spawn.h
libcommand_a_SOURCES += %D%/session.c %D%/session.h %D%/store_wait.c %D%/store_wait.h
