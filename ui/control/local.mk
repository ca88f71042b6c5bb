libui_a_SOURCES += \
	%D%/control.c %D%/control.h \
	%D%/engine.c %D%/engine.h \
	%D%/form_check.c %D%/form_check.h \
	%D%/overlay_keys.c %D%/overlay_keys.h \
	%D%/palette.c %D%/palette.h \
	%D%/picture.c %D%/picture.h \
	%D%/refresh.c %D%/refresh.h \
	%D%/why_not.c %D%/why_not.h
