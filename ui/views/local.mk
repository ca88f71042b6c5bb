libui_a_SOURCES += \
	%D%/compare.c \
	%D%/compare_parts.h \
	%D%/compare_chart.c \
	%D%/compare_plan.c \
	%D%/compare_table.c \
	%D%/dashboard.c \
	%D%/device.c \
	%D%/help.c \
	%D%/log.c \
	%D%/page.c %D%/page.h \
	%D%/run.c \
	%D%/run_profile.c \
	%D%/run_sections.c %D%/run_sections.h \
	%D%/runs.c \
	%D%/settings.c \
	%D%/views.c %D%/views.h
