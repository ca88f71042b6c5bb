libtrain_a_SOURCES += \
	%D%/checkpoint.c %D%/checkpoint.h \
	%D%/deletion.c %D%/deletion.h \
	%D%/folder.c %D%/folder.h \
	%D%/place.c %D%/place.h \
	%D%/writer.c %D%/writer.h
