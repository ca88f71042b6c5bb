if HAVE_CHECK
check_PROGRAMS += %D%/test_command
%C%_test_command_SOURCES = %D%/test_command.c tests/support.c tests/support.h
%C%_test_command_LDADD = libcommand.a libsettings.a libui.a libclient.a libstore.a libboard.a \
	$(checkpoint_libs) libspec.a libbase.a $(LIBCONFIG_LIBS) $(SQLITE_LIBS) $(JANSSON_LIBS) \
	$(ZLIB_LIBS) $(CHECK_LIBS)
endif
