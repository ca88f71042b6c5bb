libui_a_SOURCES += \
	%D%/chart.c \
	%D%/device_cells.c \
	%D%/device_parts.c %D%/device_parts.h \
	%D%/devices.c \
	%D%/form.c \
	%D%/header.c \
	%D%/keys.c \
	%D%/panels.c %D%/panels.h \
	%D%/run_cells.c \
	%D%/runs.c \
	%D%/status.c
