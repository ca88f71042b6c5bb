if HAVE_CHECK
check_PROGRAMS += %D%/test_cpu_ops %D%/test_cpu_net %D%/test_cpu_parts %D%/test_augment
%C%_test_cpu_ops_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
%C%_test_cpu_ops_SOURCES = %D%/test_cpu_ops.c tests/reference/conformance_ops.c $(TRIAL)
%C%_test_cpu_ops_LDADD = libtestnet.a $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_cpu_ops_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_cpu_net_CPPFLAGS = $(%C%_test_cpu_ops_CPPFLAGS)
%C%_test_cpu_net_SOURCES = %D%/test_cpu_net.c tests/reference/conformance_net.c $(TRIAL)
%C%_test_cpu_net_LDADD = $(%C%_test_cpu_ops_LDADD) $(PTHREAD_LIBS)
%C%_test_cpu_net_LDFLAGS = $(%C%_test_cpu_ops_LDFLAGS)
%C%_test_cpu_parts_CPPFLAGS = $(%C%_test_cpu_ops_CPPFLAGS)
%C%_test_cpu_parts_SOURCES = %D%/test_cpu_parts.c tests/reference/conformance_net.c $(TRIAL)
%C%_test_cpu_parts_LDADD = $(%C%_test_cpu_ops_LDADD) $(PTHREAD_LIBS)
%C%_test_cpu_parts_LDFLAGS = $(%C%_test_cpu_ops_LDFLAGS)
%C%_test_augment_CPPFLAGS = $(%C%_test_cpu_ops_CPPFLAGS)
%C%_test_augment_SOURCES = %D%/test_augment.c $(TRIAL)
%C%_test_augment_LDADD = $(%C%_test_cpu_ops_LDADD)
%C%_test_augment_LDFLAGS = $(%C%_test_cpu_ops_LDFLAGS)
endif
