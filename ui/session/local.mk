libui_a_SOURCES += \
	%D%/bases.c %D%/bases.h \
	%D%/chart.c %D%/chart.h \
	%D%/comparison.c %D%/comparison.h \
	%D%/evaluation.h \
	%D%/grid.c %D%/grid.h \
	%D%/hosts.c %D%/hosts.h \
	%D%/log_lines.c %D%/log_lines.h \
	%D%/message.c %D%/message.h \
	%D%/overlay.c %D%/overlay.h \
	%D%/request.c %D%/request.h \
	%D%/runs.c %D%/runs.h \
	%D%/settings.c %D%/settings.h \
	%D%/settings_source.h \
	%D%/sweep.c %D%/sweep.h \
	%D%/ui.c %D%/ui.h \
	%D%/view.c %D%/view.h
