libui_a_SOURCES += \
	%D%/run_filter.c %D%/run_filter.h \
	%D%/run_list.c %D%/run_list.h \
	%D%/state.c %D%/state.h \
	%D%/curve.c \
	%D%/log.c \
	%D%/details.c %D%/details.h \
	%D%/read.c %D%/read.h \
	%D%/setting.c
