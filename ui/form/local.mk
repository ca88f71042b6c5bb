libui_a_SOURCES += \
	%D%/devices.c %D%/devices.h \
	%D%/field.c %D%/field.h \
	%D%/form.c %D%/form.h \
	%D%/suggestion.c %D%/suggestion.h \
	%D%/preview.c %D%/preview.h
