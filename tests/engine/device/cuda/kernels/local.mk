if HAVE_CHECK
check_PROGRAMS += %D%/test_math
endif

# What nvcc makes is the same with sanitizers.
if !SANITIZERS
dist_check_SCRIPTS += %D%/ptxas.py
endif
EXTRA_DIST += %D%/ptxas.tsv
%D%/ptxas.log: $(cuda_objects)

if HAVE_SIMGPU
if HAVE_CHECK
# The kernels at the largest tensors.
SIMULATED_TESTS += %D%/test_large

SIMULATED_TESTS += %D%/test_kernels
endif
endif

if HAVE_CHECK
%C%_test_math_SOURCES = %D%/test_math.c $(cuda_math)
%C%_test_math_LDADD = libbase.a $(CHECK_LIBS)
endif

if HAVE_SIMGPU
if HAVE_CHECK
%C%_test_large_CPPFLAGS = $(tests_simgpu_test_simgpu_CPPFLAGS)
%C%_test_large_CXXFLAGS = $(simgpu_cxxflags)
%C%_test_large_SOURCES = %D%/test_large.cpp
%C%_test_large_LDADD = $(simgpu_kernels) $(tests_simgpu_test_simgpu_LDADD)
%C%_test_large_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_kernels_SOURCES = \
	%D%/test_kernels.c %D%/cuda_tensor.c %D%/cuda_tensor.h %D%/test_elementwise.c \
	%D%/test_grouped.c %D%/test_input.c %D%/norm_case.c %D%/norm_case.h %D%/test_norm.c \
	%D%/test_norm_backward.c %D%/test_pool.c %D%/test_take.c
%C%_test_kernels_LDADD = $(simgpu_kernels) libsimgpu.a libbase.a $(CHECK_LIBS) \
	$(PTHREAD_LIBS) -lstdc++
%C%_test_kernels_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
endif
endif
