if HAVE_SIMGPU
if HAVE_CHECK
# Several simulated GPUs.
check_PROGRAMS += %D%/test_cuda_links
%C%_test_cuda_links_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CUDA_CPPFLAGS) $(CHECK_CFLAGS)
%C%_test_cuda_links_SOURCES = %D%/test_cuda_links.c %D%/link_trial.c %D%/link_trial.h
%C%_test_cuda_links_LDADD = $(SIMGPU_LIBS) libtrain.a libboard.a libplan.a libnet.a libspec.a \
	libbase.a $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(PTHREAD_LIBS)
%C%_test_cuda_links_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
endif
endif
