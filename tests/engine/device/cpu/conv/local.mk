if HAVE_CHECK
# Passes of kernels and what is right
CONV_TRIAL = %D%/conv_trial.c %D%/conv_trial.h %D%/run_kernel.h
check_PROGRAMS += %D%/test_fold
check_PROGRAMS += %D%/test_kernels
check_PROGRAMS += %D%/test_fusion
check_PROGRAMS += %D%/test_values
%C%_test_values_SOURCES = %D%/test_values.c
%C%_test_values_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_values_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
%C%_test_kernels_CFLAGS = $(EMULATED_AMX_CFLAGS)
%C%_test_kernels_SOURCES = %D%/test_kernels.c $(CONV_TRIAL) $(EMULATED_AMX)
%C%_test_kernels_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_kernels_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
%C%_test_fusion_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_test_fusion_SOURCES = \
	%D%/test_fusion.c %D%/run_kernel.h tests/reference/conformance_net.c tests/reference/conformance_ops.c \
	$(TRIAL)
%C%_test_fusion_LDADD = $(tests_engine_device_cpu_test_operations_LDADD) $(PTHREAD_LIBS)
%C%_test_fusion_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
%C%_test_fold_SOURCES = %D%/test_fold.c $(TRIAL)
%C%_test_fold_LDADD = $(tests_engine_device_cpu_test_operations_LDADD)
%C%_test_fold_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
endif
