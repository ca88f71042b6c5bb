if HAVE_CHECK
check_PROGRAMS += %D%/test_profile
%C%_test_profile_SOURCES = %D%/test_profile.c
%C%_test_profile_LDADD = libtrain.a libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
endif
