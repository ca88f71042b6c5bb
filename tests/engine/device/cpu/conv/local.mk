if HAVE_CHECK
check_PROGRAMS += %D%/test_fold
check_PROGRAMS += %D%/test_conv_methods
check_PROGRAMS += %D%/test_conv_beside
%C%_test_conv_methods_CPPFLAGS = $(tests_engine_device_cpu_test_cpu_ops_CPPFLAGS)
%C%_test_conv_methods_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_test_conv_methods_SOURCES = %D%/test_conv_methods.c
%C%_test_conv_methods_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_conv_methods_LDFLAGS = $(tests_engine_device_cpu_test_cpu_ops_LDFLAGS)
%C%_test_conv_beside_CPPFLAGS = $(tests_engine_device_cpu_test_cpu_ops_CPPFLAGS)
%C%_test_conv_beside_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_test_conv_beside_SOURCES = \
	%D%/test_conv_beside.c tests/reference/conformance_net.c tests/reference/conformance_ops.c \
	$(TRIAL)
%C%_test_conv_beside_LDADD = $(tests_engine_device_cpu_test_cpu_ops_LDADD) $(PTHREAD_LIBS)
%C%_test_conv_beside_LDFLAGS = $(tests_engine_device_cpu_test_cpu_ops_LDFLAGS)
%C%_test_fold_CPPFLAGS = $(tests_engine_device_cpu_test_cpu_ops_CPPFLAGS)
%C%_test_fold_SOURCES = %D%/test_fold.c $(TRIAL)
%C%_test_fold_LDADD = $(tests_engine_device_cpu_test_cpu_ops_LDADD)
%C%_test_fold_LDFLAGS = $(tests_engine_device_cpu_test_cpu_ops_LDFLAGS)
endif
