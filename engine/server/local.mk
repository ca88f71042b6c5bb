# The engine's side of the protocol
noinst_LIBRARIES += libserver.a
libserver_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libserver_a_SOURCES = \
	%D%/listen.c \
	%D%/notify.c \
	%D%/server.c %D%/server.h \
	%D%/server_state.h \
	%D%/state.c \
	%D%/viewers.c \
	%D%/work.c
