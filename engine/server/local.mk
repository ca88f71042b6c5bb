# The engine's side of the protocol
noinst_LIBRARIES += libserver.a
libserver_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libserver_a_SOURCES = \
	%D%/listen.c %D%/listen.h \
	%D%/requests.c %D%/requests.h \
	%D%/server.c %D%/server.h
