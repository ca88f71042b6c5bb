libcommand_a_SOURCES += \
	%D%/epoch_table.c %D%/epoch_table.h \
	%D%/board.c %D%/board.h \
	%D%/csv.c %D%/csv.h \
	%D%/metric.c %D%/metric.h \
	%D%/json.c %D%/json.h \
	%D%/pair.c %D%/pair.h \
	%D%/pick.c %D%/pick.h \
	%D%/source.c %D%/source.h \
	%D%/view.c %D%/view.h
