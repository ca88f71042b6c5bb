libui_a_SOURCES += \
	%D%/chart.c %D%/chart.h \
	%D%/curve.c %D%/curve.h \
	%D%/curves.c \
	%D%/legend.c \
	%D%/parts.h \
	%D%/scale.c
