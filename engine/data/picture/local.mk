# One picture
libdata_a_SOURCES += \
	%D%/codec.h \
	%D%/exif.c %D%/exif.h \
	%D%/filter.c %D%/filter.h \
	%D%/filter_avx2.c \
	%D%/filter_avx512.c \
	%D%/filter_groups.h \
	%D%/filter_vectors.h \
	%D%/jpeg.c \
	%D%/picture.c %D%/picture.h \
	%D%/png.c \
	%D%/raster.c %D%/raster.h \
	%D%/resize.c %D%/resize.h
