if HAVE_CHECK
check_PROGRAMS += %D%/test_net
%C%_test_net_SOURCES = %D%/test_net.c tests/support.c tests/support.h
%C%_test_net_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_net_LDADD = libnet.a libbase.a $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS) \
	$(ZLIB_LIBS)
endif
