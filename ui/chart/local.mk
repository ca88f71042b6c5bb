libui_a_SOURCES += \
	%D%/axis.c %D%/axis.h \
	%D%/chart.c %D%/chart.h \
	%D%/curve.c %D%/curve.h \
	%D%/curves.c %D%/curves.h \
	%D%/legend.c %D%/legend.h \
	%D%/plot.c %D%/plot.h \
	%D%/rest.c %D%/rest.h \
	%D%/scale.c %D%/scale.h \
	%D%/smooth.c %D%/smooth.h
