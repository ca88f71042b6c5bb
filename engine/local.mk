bin_PROGRAMS += dpartui-engine
dpartui_engine_CPPFLAGS = $(libserver_a_CPPFLAGS)
dpartui_engine_SOURCES = %D%/main.c
dpartui_engine_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
dpartui_engine_LDADD = libserver.a libstore.a libhosts.a libtrain.a libboard.a libdevice.a libcpu.a \
	$(CUDA_BACKEND_LIBS) libplan.a libnet.a libfetch.a libdata.a libspec.a libbase.a \
	$(DNNL_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(CURL_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) \
	$(SQLITE_LIBS) $(PTHREAD_LIBS)
