if HAVE_CHECK
check_PROGRAMS += %D%/test_weights
%C%_test_weights_SOURCES = %D%/test_weights.c
%C%_test_weights_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_weights_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
check_PROGRAMS += %D%/test_fixed
%C%_test_fixed_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_test_fixed_SOURCES = %D%/test_fixed.c $(CONV_TRIAL)
%C%_test_fixed_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_fixed_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
endif
