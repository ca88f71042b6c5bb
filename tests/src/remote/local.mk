if HAVE_CHECK
check_PROGRAMS += %D%/test_host
%C%_test_host_SOURCES = %D%/test_host.c tests/support.c tests/support.h
%C%_test_host_LDADD = libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
endif
