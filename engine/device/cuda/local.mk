# The CUDA backend
EXTRA_DIST += $(cuda_kernel_parts)

if HAVE_CUDA_TOOLKIT
noinst_LIBRARIES += libcuda_backend.a
libcuda_backend_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CUDA_CPPFLAGS)
libcuda_backend_a_SOURCES = \
	%D%/backend.c %D%/backend.h \
	%D%/facts.c %D%/facts.h \
	%D%/machine.c %D%/machine.h \
	%D%/plan.c %D%/plan.h \
	%D%/stage.c %D%/stage.h \
	$(cuda_kernels)

# What programs with GPU devices link, before libnet.a.
CUDA_BACKEND_LIBS = libcuda_backend.a $(CUDA_LIBS)

if HAVE_CHECK
cuda_test_libs = libcuda_backend.a libnet.a libspec.a libbase.a $(CHECK_LIBS) \
	$(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(CUDA_LIBS)
endif
endif

# Kernels and their launchers are C in C++'s clothes. Sanitizers see the C files only.
NVCCCOMPILE = $(NVCC) -std=c++17 $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) -I$(top_srcdir) \
	-I$(top_srcdir)/src $(CUDA_CPPFLAGS) $(NVCC_GENCODE) $(NVCC_WARN) \
	-Xcompiler=-fno-exceptions,-fno-rtti $(NVCCFLAGS)
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =

# NAME.ptxas keeps what ptxas says of the kernels, for tests/engine/device/cuda/kernels/ptxas.py;
# all else that the compiler says is shown.
SUFFIXES = .cu
.cu.o:
	@$(MKDIR_P) $(@D)
	@{ echo 'NVCCFLAGS: $(NVCCFLAGS)'; $(NVCC) --version; } >$*.ptxas
	$(AM_V_NVCC)$(NVCCCOMPILE) -Xptxas -v -MD -MP -MF $*.cu.d -c -o $@ $< 2>>$*.ptxas || status=$$?; \
	sed '1,/^Build/d; /^ptxas info/d; /bytes stack frame/d' $*.ptxas >&2; exit $${status-0}
CLEANFILES += $(cuda_kernels:.cu=.ptxas)

# The kernels, where there is a compiler for them.
cuda_objects =
if HAVE_CUDA_TOOLKIT
cuda_objects += $(cuda_kernels:.cu=.o)
endif
update-ptxas: $(cuda_objects)
	top_srcdir='$(srcdir)' top_builddir=. $(PYTHON_RUN) '$(srcdir)/tests/engine/device/cuda/kernels/ptxas.py' --update

# What each kernel file was last made from.
cuda_depends = $(cuda_kernels:.cu=.cu.d)
CLEANFILES += $(cuda_depends)
-include $(cuda_depends)
