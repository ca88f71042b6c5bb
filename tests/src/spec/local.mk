if HAVE_CHECK
check_PROGRAMS += %D%/test_spec
%C%_test_spec_CPPFLAGS = $(tests_src_base_test_base_CPPFLAGS)
%C%_test_spec_SOURCES = %D%/test_spec.c
%C%_test_spec_LDADD = libspec.a libbase.a $(CHECK_LIBS) $(JANSSON_LIBS)
endif
