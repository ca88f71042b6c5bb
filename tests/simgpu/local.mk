# The CUDA backend on a simulated GPU, for tests
if HAVE_SIMGPU
if HAVE_CHECK
check_LIBRARIES += libsimgpu.a
libsimgpu_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
# Of sanitizers only what sees how the program uses its memory: with UBSan compiling takes a third
# longer.
libsimgpu_a_CXXFLAGS = $(simgpu_cxxflags) -fno-sanitize=undefined
libsimgpu_a_SOURCES = \
	%D%/block.cpp %D%/block.hpp \
	%D%/control.cpp \
	%D%/device.cpp \
	%D%/device_side.h \
	%D%/fiber.cpp %D%/fiber.hpp \
	%D%/graph.cpp \
	%D%/intrinsics.hpp \
	%D%/kernel.cpp \
	%D%/launch.hpp \
	%D%/machine.cpp %D%/machine.hpp \
	%D%/memory.cpp \
	%D%/numbers.hpp \
	%D%/race.cpp %D%/race.hpp \
	%D%/race_hooks.cpp \
	%D%/simgpu.h \
	%D%/stream.cpp

simgpu_cxxflags = -std=c++17 $(CXX_WARN) $(SANITIZE_FLAGS) $(SIMGPU_STACK_FLAGS) \
	$(PTHREAD_CFLAGS) $(OPENMP_CFLAGS)

# The kernels for the host.
simgpu_kernels = $(cuda_kernels:.cu=.simo)
simgpu_depends = $(cuda_kernels:.cu=.simo.d)
CLEANFILES += $(simgpu_kernels) $(simgpu_depends)
-include $(simgpu_depends)

# What tests link in place of CUDA_BACKEND_LIBS: nothing of nvcc's, and no CUDA library.
SIMGPU_LIBS = $(simgpu_kernels) libsimgpu.a libcuda_backend.a libsimgpu.a -lstdc++

SIMULATED_TESTS += %D%/test_simgpu

SIMULATED_TESTS += %D%/test_simgpu_capture %D%/test_simgpu_races

# Its cuDNN, cuBLASLt and NCCL, by way of the backend's own use of them.
SIMULATED_TESTS += %D%/test_simgpu_libraries %D%/test_simgpu_nccl

# The engine on simulated GPUs, for tests/programs/gpus.py: no test of its own.
EXTRA_PROGRAMS += %D%/engine
CLEANFILES += %D%/engine$(EXEEXT)
check_DATA += %D%/engine$(EXEEXT)
endif
endif

if LACKS_SIMGPU
SIMULATED_SKIP += %D%/skipped.sh
dist_check_SCRIPTS += %D%/skipped.sh
endif

SUFFIXES += .simo
.cu.simo:
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) -x c++ $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) \
	  $(CUDA_CPPFLAGS) -DDPARTUI_SIMULATED_GPU $(CPPFLAGS) $(simgpu_cxxflags) $(SIMGPU_RACE_FLAGS) \
	  $(CXXFLAGS) \
	  -MD -MP -MF $*.simo.d -c -o $@ $<

if HAVE_SIMGPU
if HAVE_CHECK
%C%_test_simgpu_CPPFLAGS = $(AM_CPPFLAGS) -DDPARTUI_SIMULATED_GPU
%C%_test_simgpu_CXXFLAGS = $(simgpu_cxxflags)
%C%_test_simgpu_SOURCES = %D%/test_simgpu.cpp
%C%_test_simgpu_LDADD = libsimgpu.a libbase.a $(CHECK_LIBS) $(PTHREAD_LIBS)
%C%_test_simgpu_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_simgpu_capture_CPPFLAGS = $(%C%_test_simgpu_CPPFLAGS)
%C%_test_simgpu_capture_CXXFLAGS = $(simgpu_cxxflags)
%C%_test_simgpu_capture_SOURCES = %D%/test_simgpu_capture.cpp
%C%_test_simgpu_capture_LDADD = $(%C%_test_simgpu_LDADD)
%C%_test_simgpu_capture_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
# With the preprocessor's flags, as the linker must not see it: it would take the sanitizer's library.
%C%_test_simgpu_races_CPPFLAGS = $(%C%_test_simgpu_CPPFLAGS) $(SIMGPU_RACE_FLAGS)
%C%_test_simgpu_races_CXXFLAGS = $(simgpu_cxxflags)
%C%_test_simgpu_races_SOURCES = %D%/test_simgpu_races.cpp
%C%_test_simgpu_races_LDADD = $(simgpu_kernels) $(%C%_test_simgpu_LDADD)
%C%_test_simgpu_races_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_simgpu_libraries_SOURCES = %D%/test_simgpu_libraries.c
%C%_test_simgpu_libraries_LDADD = $(SIMGPU_LIBS) libspec.a libbase.a \
	$(CHECK_LIBS) $(JANSSON_LIBS) $(PTHREAD_LIBS)
%C%_test_simgpu_libraries_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_engine_CPPFLAGS = $(libserver_a_CPPFLAGS)
%C%_engine_SOURCES = engine/main.c
%C%_engine_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS) -Wl,--undefined=simgpu_has_libraries
%C%_engine_LDADD = libserver.a libstore.a libhosts.a libtrain.a libboard.a libdevice.a libcpu.a \
	$(SIMGPU_LIBS) libplan.a libnet.a libfetch.a libdata.a libspec.a libbase.a $(DNNL_LIBS) \
	$(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(CURL_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) $(SQLITE_LIBS) \
	$(PTHREAD_LIBS)
%C%_test_simgpu_nccl_SOURCES = %D%/test_simgpu_nccl.c
%C%_test_simgpu_nccl_LDADD = $(%C%_test_simgpu_libraries_LDADD)
%C%_test_simgpu_nccl_LDFLAGS = $(%C%_test_simgpu_libraries_LDFLAGS)
endif
endif
