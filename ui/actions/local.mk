libui_a_SOURCES += \
	%D%/chart.c %D%/chart.h \
	%D%/columns.c %D%/columns.h \
	%D%/compare.c %D%/compare.h \
	%D%/confusion.c %D%/confusion.h \
	%D%/dashboard.c %D%/dashboard.h \
	%D%/grid.c %D%/grid.h \
	%D%/log.c %D%/log.h \
	%D%/pages.c %D%/pages.h \
	%D%/resume.c %D%/resume.h \
	%D%/run_details.c %D%/run_details.h \
	%D%/run_list.c %D%/run_list.h \
	%D%/runs.c %D%/runs.h \
	%D%/settings.c %D%/settings.h \
	%D%/sweep.c %D%/sweep.h \
	%D%/views.c %D%/views.h
