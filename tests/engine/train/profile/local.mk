if HAVE_CHECK
check_PROGRAMS += %D%/test_profile %D%/test_noise
%C%_test_profile_SOURCES = %D%/test_profile.c
%C%_test_profile_LDADD = libtrain.a libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
%C%_test_noise_SOURCES = %D%/test_noise.c
%C%_test_noise_LDADD = libtrain.a libbase.a $(CHECK_LIBS)
endif
