libui_a_SOURCES += \
	%D%/delete.c %D%/delete.h \
	%D%/differences.c %D%/differences.h \
	%D%/export.c %D%/export.h \
	%D%/tags.c %D%/tags.h
