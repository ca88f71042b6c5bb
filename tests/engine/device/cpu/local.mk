if HAVE_CHECK
check_PROGRAMS += %D%/test_operations %D%/test_networks %D%/test_memory %D%/test_augment \
	%D%/test_slices %D%/test_stages %D%/test_buckets %D%/test_bf16
%C%_test_operations_SOURCES = %D%/test_operations.c tests/reference/conformance_ops.c $(TRIAL)
%C%_test_operations_LDADD = libtestnet.a $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_operations_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_bf16_SOURCES = %D%/test_bf16.c tests/reference/conformance_ops.c \
	tests/reference/conformance_net.c tests/reference/conformance_rough.c $(TRIAL)
%C%_test_bf16_LDADD = $(%C%_test_operations_LDADD) $(PTHREAD_LIBS)
%C%_test_bf16_LDFLAGS = $(%C%_test_operations_LDFLAGS)
%C%_test_networks_SOURCES = %D%/test_networks.c tests/reference/conformance_net.c $(TRIAL)
%C%_test_networks_LDADD = $(%C%_test_operations_LDADD) $(PTHREAD_LIBS)
%C%_test_networks_LDFLAGS = $(%C%_test_operations_LDFLAGS)
%C%_test_memory_SOURCES = %D%/test_memory.c tests/suites.h
%C%_test_memory_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_memory_LDFLAGS = $(%C%_test_operations_LDFLAGS)
%C%_test_augment_SOURCES = %D%/test_augment.c $(TRIAL)
%C%_test_augment_LDADD = $(%C%_test_operations_LDADD)
%C%_test_augment_LDFLAGS = $(%C%_test_operations_LDFLAGS)
%C%_test_slices_SOURCES = %D%/test_slices.c tests/reference/conformance_ops.c \
	tests/reference/conformance_slices.c $(TRIAL)
%C%_test_slices_LDADD = $(%C%_test_operations_LDADD) $(PTHREAD_LIBS)
%C%_test_slices_LDFLAGS = $(%C%_test_operations_LDFLAGS)
%C%_test_stages_SOURCES = %D%/test_stages.c tests/reference/conformance_ops.c \
	tests/reference/conformance_stages.c \
	tests/reference/stage_pipeline.c $(TRIAL)
%C%_test_stages_LDADD = $(%C%_test_operations_LDADD)
%C%_test_stages_LDFLAGS = $(%C%_test_operations_LDFLAGS)
%C%_test_buckets_SOURCES = %D%/test_buckets.c tests/reference/conformance_ops.c \
	tests/reference/conformance_net.c $(TRIAL)
%C%_test_buckets_LDADD = $(%C%_test_networks_LDADD)
%C%_test_buckets_LDFLAGS = $(%C%_test_operations_LDFLAGS)
endif
