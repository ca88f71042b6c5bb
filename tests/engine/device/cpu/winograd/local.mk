if HAVE_CHECK
check_PROGRAMS += %D%/test_weights
%C%_test_weights_SOURCES = %D%/test_weights.c
%C%_test_weights_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_weights_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
endif
