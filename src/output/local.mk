libcommand_a_SOURCES += \
	%D%/bar.c %D%/bar.h \
	%D%/confusion.c %D%/confusion.h \
	%D%/paragraph.c %D%/paragraph.h \
	%D%/plot.c %D%/plot.h \
	%D%/stream.c %D%/stream.h \
	%D%/profile.c %D%/profile.h \
	%D%/svg.c %D%/svg.h \
	%D%/svg_chart.c %D%/svg_chart.h \
	%D%/svg_panel.c %D%/svg_panel.h \
	%D%/table.c %D%/table.h \
	%D%/timeline.c %D%/timeline.h
