if HAVE_CHECK
check_PROGRAMS += %D%/test_spec %D%/test_schedule %D%/test_hosts %D%/test_difference
%C%_test_spec_SOURCES = %D%/test_spec.c
%C%_test_spec_LDADD = libspec.a libbase.a $(CHECK_LIBS) $(JANSSON_LIBS)
%C%_test_schedule_SOURCES = %D%/test_schedule.c tests/support.c tests/support.h
%C%_test_schedule_LDADD = libspec.a libbase.a $(CHECK_LIBS) $(JANSSON_LIBS) -lm
%C%_test_hosts_SOURCES = %D%/test_hosts.c tests/support.c tests/support.h
%C%_test_hosts_LDADD = $(%C%_test_spec_LDADD)
%C%_test_difference_SOURCES = %D%/test_difference.c tests/support.c tests/support.h
%C%_test_difference_LDADD = $(%C%_test_spec_LDADD)
endif
