libcommand_a_SOURCES += \
	%D%/bar.c %D%/bar.h \
	%D%/output.c %D%/output.h \
	%D%/profile_print.c %D%/profile_print.h \
	%D%/svg.c %D%/svg.h \
	%D%/svg_chart.c %D%/svg_chart.h \
	%D%/svg_panel.c %D%/svg_panel.h \
	%D%/table.c %D%/table.h
