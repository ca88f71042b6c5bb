# The CPU backend

# By itself, so that tests can bring other devices.
noinst_LIBRARIES += libdevice.a
libdevice_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libdevice_a_SOURCES =

# What the plans of all backends share.
noinst_LIBRARIES += libplan.a
libplan_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libplan_a_SOURCES =

noinst_LIBRARIES += libcpu.a
libcpu_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
# A square root that need not set errno is one instruction, and so is that of a whole vector.
libcpu_a_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -fno-math-errno
libcpu_a_SOURCES = \
	%D%/backend.c %D%/backend.h \
	%D%/plan.c %D%/plan.h \
	%D%/replica.c %D%/replica.h \
	%D%/replica_layout.c %D%/replica_layout.h

# What CPU devices need, with the libraries of the project that they use.
CPU_LIBS = libdevice.a libcpu.a $(CUDA_BACKEND_LIBS) libplan.a libnet.a libspec.a \
	libbase.a $(DNNL_LIBS)
