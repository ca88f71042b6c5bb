if HAVE_CHECK
check_PROGRAMS += %D%/test_library
endif

if HAVE_SIMGPU
if HAVE_CHECK
# Those that wait longest first.
SIMULATED_TESTS += %D%/test_hosts %D%/test_strategies %D%/test_sync %D%/test_ahead \
	%D%/test_plan %D%/test_passes %D%/test_profile %D%/test_queue %D%/test_stages %D%/test_slices
CUDA_FIXTURE = %D%/cuda_fixture.c %D%/cuda_fixture.h $(TRIAL)
endif
endif

if HAVE_CHECK
%C%_test_library_SOURCES = \
	%D%/test_library.c engine/device/cuda/libraries/loader.c engine/device/cuda/libraries/loader.h
%C%_test_library_LDADD = libbase.a $(CHECK_LIBS)
endif

if HAVE_SIMGPU
if HAVE_CHECK
%C%_test_plan_SOURCES = \
	%D%/test_plan.c tests/reference/conformance_net.c tests/reference/conformance_ops.c \
	tests/reference/conformance_rough.c $(CUDA_FIXTURE)
%C%_test_plan_LDADD = libtestnet.a libdevice.a libcpu.a $(SIMGPU_LIBS) libplan.a libnet.a \
	libspec.a libbase.a $(DNNL_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS) \
	$(PTHREAD_LIBS)
%C%_test_plan_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_passes_SOURCES = %D%/test_passes.c $(CUDA_FIXTURE)
%C%_test_passes_LDADD = $(%C%_test_plan_LDADD)
%C%_test_passes_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_profile_SOURCES = \
	%D%/test_profile.c tests/recorder.c tests/recorder.h $(CUDA_FIXTURE)
%C%_test_profile_LDADD = $(gpu_test_libs)
%C%_test_profile_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_queue_SOURCES = %D%/test_queue.c $(CUDA_FIXTURE)
%C%_test_queue_LDADD = $(%C%_test_plan_LDADD)
%C%_test_queue_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_sync_SOURCES = %D%/test_sync.c $(parallel_fixture)
%C%_test_sync_LDADD = libtrain.a libboard.a libdevice.a libcpu.a $(SIMGPU_LIBS) libplan.a $(TRAIN_LIBS) \
	$(DNNL_LIBS) $(PTHREAD_LIBS)
%C%_test_sync_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_hosts_SOURCES = %D%/test_hosts.c \
	tests/engine/train/run/hosts_fixture.c tests/engine/train/run/hosts_fixture.h \
	tests/fakes/host_threads.c tests/fakes/host_threads.h $(parallel_fixture)
%C%_test_hosts_LDADD = $(%C%_test_sync_LDADD)
%C%_test_hosts_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_stages_SOURCES = \
	%D%/test_stages.c tests/reference/conformance_ops.c tests/reference/conformance_stages.c \
	tests/reference/stage_pipeline.c \
	$(CUDA_FIXTURE)
%C%_test_stages_LDADD = $(%C%_test_plan_LDADD)
%C%_test_stages_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_slices_SOURCES = \
	%D%/test_slices.c tests/reference/conformance_ops.c tests/reference/conformance_slices.c \
	$(CUDA_FIXTURE)
%C%_test_slices_LDADD = $(%C%_test_plan_LDADD)
%C%_test_slices_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_strategies_SOURCES = %D%/test_strategies.c $(parallel_fixture)
%C%_test_strategies_LDADD = $(%C%_test_sync_LDADD)
%C%_test_strategies_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_ahead_SOURCES = %D%/test_ahead.c $(parallel_fixture)
%C%_test_ahead_LDADD = $(%C%_test_sync_LDADD)
%C%_test_ahead_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
endif
endif
