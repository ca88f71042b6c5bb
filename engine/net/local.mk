# Networks as data
noinst_LIBRARIES += libnet.a
libnet_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(LIBCONFIG_CFLAGS) $(ZLIB_CFLAGS)
libnet_a_SOURCES = \
	%D%/builder.c %D%/builder.h \
	%D%/error.c %D%/error.h \
	%D%/fuse.c %D%/fuse.h \
	%D%/net.c %D%/net.h \
	%D%/operation.c %D%/operation.h \
	%D%/params.c %D%/params.h \
	%D%/slice.c %D%/slice.h \
	%D%/slice_gathers.c %D%/slice_gathers.h \
	%D%/stage.c %D%/stage.h
