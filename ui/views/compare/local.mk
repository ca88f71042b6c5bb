libui_a_SOURCES += \
	%D%/chart.c %D%/chart.h \
	%D%/grid.c %D%/grid.h \
	%D%/grid_chart.c %D%/grid_chart.h \
	%D%/plan.c %D%/plan.h \
	%D%/table.c %D%/table.h
