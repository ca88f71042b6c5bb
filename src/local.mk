# Command line
noinst_LIBRARIES += libclient.a
libclient_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclient_a_SOURCES =

noinst_LIBRARIES += libcommand.a
libcommand_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libcommand_a_SOURCES =

bin_PROGRAMS += dpartui
dpartui_CPPFLAGS = $(libcommand_a_CPPFLAGS)
dpartui_SOURCES = %D%/main.c
# Of training only what reads checkpoints.
checkpoint_libs = libtrain.a libnet.a
dpartui_LDADD = libcommand.a libsettings.a libui.a libclient.a libstore.a libboard.a \
	$(checkpoint_libs) libspec.a libbase.a $(NCURSESW_LIBS) $(LIBCONFIG_LIBS) $(SQLITE_LIBS) \
	$(JANSSON_LIBS) $(ZLIB_LIBS)
