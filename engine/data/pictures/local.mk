# Folders of pictures
libdata_a_SOURCES += \
	%D%/cache.c %D%/cache.h \
	%D%/crew.c %D%/crew.h \
	%D%/decode.c %D%/decode.h \
	%D%/list.c %D%/list.h \
	%D%/pictures.c %D%/pictures.h \
	%D%/room.c %D%/room.h \
	%D%/rows.c %D%/rows.h \
	%D%/scan.c %D%/scan.h \
	%D%/settings.h \
	%D%/watch.h
