# A host's part of such a run
if HAVE_MPI
bin_PROGRAMS += dpartui-rank
endif
dpartui_rank_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(MPI_CFLAGS)
dpartui_rank_SOURCES = \
	%D%/calls.c %D%/calls.h \
	%D%/link.c %D%/link.h \
	%D%/link_state.h \
	%D%/main.c \
	%D%/messages.c %D%/messages.h \
	%D%/order.c %D%/order.h \
	%D%/sense.c %D%/sense.h \
	%D%/talk.c %D%/talk.h
dpartui_rank_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
dpartui_rank_LDADD = libhosts.a libserver.a libtrain.a libboard.a libdevice.a libcpu.a $(CUDA_BACKEND_LIBS) \
	libplan.a libnet.a libdata.a libspec.a libbase.a $(DNNL_LIBS) $(LIBCONFIG_LIBS) \
	$(JANSSON_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) $(PTHREAD_LIBS) $(MPI_LIBS)
