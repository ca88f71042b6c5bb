# Split, order, sync, runs
noinst_LIBRARIES += libtrain.a
libtrain_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
# The sums over devices are written as plain loops marked for vectorisation.
libtrain_a_CFLAGS = $(AM_CFLAGS) -fopenmp-simd
libtrain_a_SOURCES =

if HAVE_CHECK
# What runs need besides the devices' backends.
TRAIN_LIBS = libdevice.a libnet.a libdata.a libspec.a libbase.a \
	$(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) $(CHECK_LIBS)
endif
