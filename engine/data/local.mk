# Data sets, fetching
noinst_LIBRARIES += libdata.a
# Made data are the same bytes everywhere: no fused multiply-add may round differently.
libdata_a_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
libdata_a_SOURCES = \
	%D%/augment.h \
	%D%/bytes.c %D%/bytes.h \
	%D%/cifar.c %D%/cifar.h \
	%D%/classes.c %D%/classes.h \
	%D%/data.c %D%/data.h \
	%D%/dataset.c %D%/dataset.h \
	%D%/find.c %D%/find.h \
	%D%/glyphs.c %D%/glyphs.h \
	%D%/idx.c %D%/idx.h \
	%D%/npy.c %D%/npy.h \
	%D%/npz.c %D%/npz.h \
	%D%/random.c %D%/random.h \
	%D%/statistics.c %D%/statistics.h \
	%D%/validation.c %D%/validation.h \
	%D%/zip.c %D%/zip.h

noinst_LIBRARIES += libfetch.a
libfetch_a_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(CRYPTO_CFLAGS)
libfetch_a_SOURCES =
