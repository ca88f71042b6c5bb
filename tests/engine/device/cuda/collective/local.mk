if HAVE_SIMGPU
if HAVE_CHECK
# Several simulated GPUs.
SIMULATED_TESTS += %D%/test_collective
%C%_test_collective_SOURCES = %D%/test_collective.c %D%/trial.c %D%/trial.h
%C%_test_collective_LDADD = $(SIMGPU_LIBS) libtrain.a libboard.a libplan.a libnet.a libspec.a \
	libbase.a $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(PTHREAD_LIBS)
%C%_test_collective_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
endif
endif
