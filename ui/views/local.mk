libui_a_SOURCES += \
	%D%/columns.c \
	%D%/compare.c \
	%D%/confusion.c %D%/confusion.h \
	%D%/confusion_sections.c %D%/confusion_sections.h \
	%D%/dashboard.c %D%/dashboard.h \
	%D%/device.c %D%/device.h \
	%D%/differences.c \
	%D%/help.c %D%/help.h \
	%D%/hosts.c \
	%D%/log.c %D%/log.h \
	%D%/run.c %D%/run.h \
	%D%/runs.c %D%/runs.h \
	%D%/settings.c \
	%D%/views.c %D%/views.h
