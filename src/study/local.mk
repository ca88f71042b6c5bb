libcommand_a_SOURCES += \
	%D%/export.c %D%/export.h \
	%D%/file.c %D%/file.h \
	%D%/forecast.c %D%/forecast.h \
	%D%/json.c %D%/json.h \
	%D%/print.c %D%/print.h \
	%D%/range.c %D%/range.h \
	%D%/source.c %D%/source.h \
	%D%/train.c %D%/train.h
