if HAVE_CHECK
check_PROGRAMS += %D%/test_rng

check_PROGRAMS += %D%/test_base %D%/test_escape
%C%_test_rng_LDADD = libbase.a $(CHECK_LIBS)
%C%_test_base_SOURCES = %D%/test_base.c
%C%_test_base_LDADD = libbase.a $(CHECK_LIBS) $(JANSSON_LIBS)
%C%_test_escape_SOURCES = %D%/test_escape.c
%C%_test_escape_LDADD = $(%C%_test_base_LDADD)
endif
