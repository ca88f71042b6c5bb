if HAVE_CHECK
check_PROGRAMS += %D%/test_timeline
%C%_test_timeline_SOURCES = %D%/test_timeline.c
%C%_test_timeline_LDADD = libbase.a $(CHECK_LIBS) $(JANSSON_LIBS)
endif
