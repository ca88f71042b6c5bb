if HAVE_CHECK
check_PROGRAMS += %D%/test_net %D%/test_fuse %D%/test_slice %D%/test_stage
%C%_test_net_SOURCES = %D%/test_net.c tests/support.c tests/support.h
%C%_test_net_LDADD = libnet.a libspec.a libbase.a $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS) \
	$(ZLIB_LIBS)
%C%_test_fuse_SOURCES = %D%/test_fuse.c $(TRIAL)
%C%_test_fuse_LDADD = $(tests_engine_device_cpu_test_operations_LDADD)
%C%_test_fuse_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
%C%_test_slice_SOURCES = %D%/test_slice.c $(TRIAL)
%C%_test_slice_LDADD = $(tests_engine_device_cpu_test_operations_LDADD)
%C%_test_slice_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
%C%_test_stage_SOURCES = %D%/test_stage.c $(TRIAL)
%C%_test_stage_LDADD = $(tests_engine_device_cpu_test_operations_LDADD)
%C%_test_stage_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
endif
