libcommand_a_SOURCES += \
	%D%/study.c %D%/study.h \
	%D%/figures.c %D%/figures.h \
	%D%/measure.c \
	%D%/sentence.c
libui_a_SOURCES += %D%/compare.c %D%/compare.h %D%/sweep.c %D%/sweep.h
