if HAVE_CHECK
check_PROGRAMS += %D%/test_metrics %D%/test_noise %D%/test_profile
%C%_test_metrics_SOURCES = %D%/test_metrics.c
%C%_test_metrics_LDADD = libtrain.a libbase.a $(CHECK_LIBS)
%C%_test_profile_SOURCES = %D%/test_profile.c
%C%_test_profile_LDADD = libtrain.a libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
%C%_test_noise_SOURCES = %D%/test_noise.c
%C%_test_noise_LDADD = libtrain.a libbase.a $(CHECK_LIBS)
endif
