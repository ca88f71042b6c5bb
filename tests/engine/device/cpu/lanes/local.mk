if HAVE_CHECK
check_PROGRAMS += %D%/test_networks %D%/test_tiling
%C%_test_networks_SOURCES = \
	%D%/test_networks.c tests/reference/conformance_net.c tests/reference/conformance_ops.c \
	$(TRIAL)
%C%_test_networks_LDADD = $(tests_engine_device_cpu_test_operations_LDADD) $(PTHREAD_LIBS)
%C%_test_networks_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
%C%_test_tiling_SOURCES = %D%/test_tiling.c tests/suites.h
%C%_test_tiling_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_tiling_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
endif
