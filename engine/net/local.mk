# Networks as data
noinst_LIBRARIES += libnet.a
libnet_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(LIBCONFIG_CFLAGS) $(ZLIB_CFLAGS)
libnet_a_SOURCES = \
	%D%/builder.c %D%/builder.h \
	%D%/describe.c %D%/describe.h \
	%D%/text.c %D%/text.h \
	%D%/net.c %D%/net.h \
	%D%/params.c %D%/params.h

modelsdir = $(pkgdatadir)/models
dist_models_DATA = \
	etc/models/cifar-cnn.conf \
	etc/models/lenet.conf \
	etc/models/linear.conf \
	etc/models/resnet18.conf \
	etc/models/smallnet.conf

if HAVE_CHECK
# The independent reference for device backends.
check_LIBRARIES += libtestnet.a
libtestnet_a_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
libtestnet_a_SOURCES =
endif

libnet_a_SOURCES += %D%/fuse.c %D%/fuse.h
