if HAVE_CHECK
check_PROGRAMS += %D%/test_resolve
check_PROGRAMS += %D%/test_preflight
%C%_test_resolve_SOURCES = %D%/test_resolve.c $(run_fixture)
%C%_test_resolve_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_preflight_SOURCES = %D%/test_preflight.c
%C%_test_preflight_LDADD = libtrain.a libboard.a libspec.a libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
endif
