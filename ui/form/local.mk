libui_a_SOURCES += \
	%D%/devices.c \
	%D%/editor.c %D%/editor.h \
	%D%/field.c %D%/field.h \
	%D%/form.c %D%/form.h
