if HAVE_CHECK
check_PROGRAMS += %D%/test_notifier
%C%_test_notifier_SOURCES = %D%/test_notifier.c tests/support.c
%C%_test_notifier_LDADD = libserver.a libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
endif
