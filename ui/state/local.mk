libui_a_SOURCES += \
	%D%/curve.c %D%/curve.h \
	%D%/details.c %D%/details.h \
	%D%/log.c %D%/log.h \
	%D%/pair.c %D%/pair.h \
	%D%/read.c %D%/read.h \
	%D%/run_filter.c %D%/run_filter.h \
	%D%/run_list.c %D%/run_list.h \
	%D%/setting.c %D%/setting.h \
	%D%/state.c %D%/state.h
