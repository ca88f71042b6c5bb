# The tests for a machine with a GPU (tests/gpu/run), rehearsed on a simulated one
gpu_probe_parts = %D%/probe.h %D%/probe_convs.c %D%/probe_libraries.c \
	%D%/probe_part.c %D%/probe_pass.c tests/engine/device/cuda/dnn/conv_cases.c tests/engine/device/cuda/dnn/conv_cases.h

if HAVE_SIMGPU
if HAVE_CHECK
SIMULATED_TESTS += %D%/test_gpu_device %D%/test_gpu_runs
gpu_test_libs = libtestnet.a libtrain.a libboard.a libdevice.a libcpu.a $(SIMGPU_LIBS) libplan.a libnet.a \
	libdata.a libspec.a libbase.a $(DNNL_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) \
	$(JANSSON_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) $(PTHREAD_LIBS)
SIMULATED_TESTS += %D%/test_gpu_probe

if HAVE_NCCL
SIMULATED_TESTS += %D%/test_gpu_nccl
endif
endif
endif

dist_check_SCRIPTS += %D%/gpu_bench.py
BUILD_TESTS += %D%/gpu_link.py %D%/gpu_run.py
EXTRA_DIST += \
	%D%/absent.c %D%/absent.h %D%/bench %D%/build.mk %D%/info.c %D%/items.sh %D%/no_cpu.c \
	%D%/nvml %D%/results.sh %D%/probe.c %D%/run %D%/sanitize.sh %D%/sources.awk %D%/toolkit.sh \
	%D%/torch_gpu.py $(gpu_probe_parts) %D%/train.c %D%/lite/check.c %D%/lite/check.h \
	%D%/lite/codecs.c \
	%D%/lite/jansson.h %D%/lite/json_text.c %D%/lite/json_values.c \
	%D%/lite/libconfig.c %D%/lite/libconfig.h %D%/lite/sha256.c %D%/lite/zlib.h %D%/gpu_case.h \
	%D%/test_gpu_device.c %D%/test_gpu_nccl.c %D%/test_gpu_probe.c %D%/test_gpu_runs.c

if HAVE_SIMGPU
if HAVE_CHECK
%C%_test_gpu_device_SOURCES = \
	%D%/test_gpu_device.c %D%/gpu_case.h tests/reference/conformance_net.c \
	tests/reference/conformance_ops.c tests/reference/conformance_rough.c \
	tests/reference/conformance_slices.c tests/reference/conformance_stages.c \
	tests/reference/stage_pipeline.c $(TRIAL)
%C%_test_gpu_device_LDADD = $(gpu_test_libs)
%C%_test_gpu_device_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_gpu_runs_SOURCES = %D%/test_gpu_runs.c %D%/gpu_case.h tests/trajectory.c \
	tests/trajectory.h $(parallel_fixture)
%C%_test_gpu_runs_LDADD = $(gpu_test_libs)
%C%_test_gpu_runs_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_gpu_probe_SOURCES = \
	%D%/test_gpu_probe.c %D%/gpu_case.h tests/support.c tests/support.h $(gpu_probe_parts)
%C%_test_gpu_probe_LDADD = $(gpu_test_libs)
%C%_test_gpu_probe_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)

if HAVE_NCCL
%C%_test_gpu_nccl_SOURCES = %D%/test_gpu_nccl.c %D%/gpu_case.h $(TRIAL)
%C%_test_gpu_nccl_LDADD = $(gpu_test_libs)
%C%_test_gpu_nccl_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
endif
endif
endif
