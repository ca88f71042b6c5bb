libui_a_SOURCES += \
	%D%/actions.c %D%/actions.h \
	%D%/keymap.c %D%/keymap.h \
	%D%/walk.c %D%/walk.h
