libui_a_SOURCES += \
	%D%/chart.c %D%/chart.h \
	%D%/chart_advice.c %D%/chart_advice.h \
	%D%/device_cells.c %D%/device_cells.h \
	%D%/device_parts.c %D%/device_parts.h \
	%D%/devices.c %D%/devices.h \
	%D%/form.c %D%/form.h \
	%D%/outlook.c %D%/outlook.h \
	%D%/pair.c %D%/pair.h \
	%D%/panel.c %D%/panel.h \
	%D%/run_cells.c %D%/run_cells.h \
	%D%/run_curves.c %D%/run_curves.h \
	%D%/runs.c %D%/runs.h \
	%D%/schedule.c %D%/schedule.h
