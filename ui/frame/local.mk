libui_a_SOURCES += \
	%D%/header.c %D%/header.h \
	%D%/keys.c %D%/keys.h \
	%D%/mouse.c %D%/mouse.h \
	%D%/palette.c %D%/palette.h \
	%D%/screen.c %D%/screen.h \
	%D%/status.c %D%/status.h
