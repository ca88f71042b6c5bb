if HAVE_CUDA_TOOLKIT
if HAVE_CHECK
check_PROGRAMS += %D%/test_conv_choices

# The driver that cuDNN compiles with; in its own folder, where no program is.
check_DATA += %D%/stub_driver/libcuda.so.1
CLEANFILES += %D%/stub_driver/libcuda.so.1
%D%/stub_driver/libcuda.so.1: %D%/stub_driver.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
	  -Wl,-soname,libcuda.so.1 -o $@ '$(srcdir)/%D%/stub_driver.c'
endif
endif

EXTRA_DIST += %D%/cudnn-releases %D%/stub_driver.c

if HAVE_SIMGPU
if HAVE_CHECK
# What the backend computes by those libraries, compared with plain loops; also for a real GPU.
SIMULATED_TESTS += %D%/test_conv_sim %D%/test_matmul_sim
SIMULATED_TESTS += %D%/test_conv_start
# It takes long to ask cuDNN for all its plans, and sanitizers see nothing of what that does.
if !SANITIZERS
SIMULATED_TESTS += %D%/test_conv_plans
endif
endif
endif

if HAVE_CUDA_TOOLKIT
if HAVE_CHECK
%C%_test_conv_choices_SOURCES = %D%/test_conv_choices.c tests/support.c tests/support.h
%C%_test_conv_choices_LDADD = $(cuda_test_libs)
# With a cuDNN older than the headers as well: tests/engine/device/cuda/dnn/cudnn-releases.
%C%_test_conv_plans_SOURCES = \
	%D%/test_conv_plans.c %D%/conv_cases.c %D%/conv_cases.h %D%/conv_offers.c \
	%D%/conv_engines.c %D%/conv_engines.h tests/support.c tests/support.h \
	engine/device/cuda/libraries/api.c
%C%_test_conv_plans_CPPFLAGS = $(AM_CPPFLAGS) -DCUDNN_LEAST=90000
%C%_test_conv_plans_LDADD = $(cuda_test_libs)
endif
endif

if HAVE_SIMGPU
if HAVE_CHECK
%C%_test_conv_sim_SOURCES = \
	%D%/test_conv_sim.c %D%/conv_tuning.c %D%/conv_faults.c \
	%D%/conv_fixture.c %D%/conv_fixture.h tests/suites.h tests/support.c tests/support.h
%C%_test_conv_sim_LDADD = $(tests_simgpu_test_simgpu_libraries_LDADD)
%C%_test_conv_sim_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_matmul_sim_SOURCES = %D%/test_matmul_sim.c
%C%_test_matmul_sim_LDADD = $(tests_simgpu_test_simgpu_libraries_LDADD)
%C%_test_matmul_sim_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_conv_start_SOURCES = %D%/test_conv_start.c $(TRIAL)
%C%_test_conv_start_LDADD = $(gpu_test_libs)
%C%_test_conv_start_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
endif
endif
