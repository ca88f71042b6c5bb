if HAVE_CHECK
check_PROGRAMS += %D%/test_cpu_lanes %D%/test_lanes_conv
%C%_test_cpu_lanes_CPPFLAGS = $(tests_engine_device_cpu_test_cpu_ops_CPPFLAGS)
%C%_test_cpu_lanes_SOURCES = \
	%D%/test_cpu_lanes.c tests/reference/conformance_net.c tests/reference/conformance_ops.c \
	$(TRIAL)
%C%_test_cpu_lanes_LDADD = $(tests_engine_device_cpu_test_cpu_ops_LDADD) $(PTHREAD_LIBS)
%C%_test_cpu_lanes_LDFLAGS = $(tests_engine_device_cpu_test_cpu_ops_LDFLAGS)
%C%_test_lanes_conv_CPPFLAGS = $(tests_engine_device_cpu_test_cpu_ops_CPPFLAGS)
%C%_test_lanes_conv_SOURCES = %D%/test_lanes_conv.c tests/suites.h
%C%_test_lanes_conv_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_lanes_conv_LDFLAGS = $(tests_engine_device_cpu_test_cpu_ops_LDFLAGS)
endif
