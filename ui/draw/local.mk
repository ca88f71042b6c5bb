libui_a_SOURCES += \
	%D%/ansi.c %D%/ansi.h \
	%D%/canvas.c %D%/canvas.h \
	%D%/character.c %D%/character.h \
	%D%/columns.c %D%/columns.h \
	%D%/editor.c %D%/editor.h \
	%D%/key.c %D%/key.h \
	%D%/layout.c %D%/layout.h \
	%D%/list.c %D%/list.h \
	%D%/page.c %D%/page.h \
	%D%/paint.c %D%/paint.h \
	%D%/preferences.c %D%/preferences.h \
	%D%/surface.c %D%/surface.h \
	%D%/theme.c %D%/theme.h
