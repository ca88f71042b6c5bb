libui_a_SOURCES += \
	%D%/actions.c %D%/actions.h \
	%D%/comparison.c %D%/comparison.h \
	%D%/control.c %D%/control.h \
	%D%/chart.c \
	%D%/dashboard.c \
	%D%/check.c \
	%D%/keeping.c \
	%D%/run_list.c \
	%D%/runs.c \
	%D%/say.c \
	%D%/settings.c \
	%D%/sweep.c \
	%D%/keeper.h \
	%D%/keymap.c %D%/keymap.h \
	%D%/log_lines.c %D%/log_lines.h \
	%D%/overlay.c %D%/overlay.h \
	%D%/palette.c %D%/palette.h \
	%D%/picture.c %D%/picture.h \
	%D%/run_chart.c %D%/run_chart.h \
	%D%/ui.c %D%/ui.h
