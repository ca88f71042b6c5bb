libtrain_a_SOURCES += \
	%D%/map.c %D%/map.h \
	%D%/link.h
