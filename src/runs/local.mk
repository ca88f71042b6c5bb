libcommand_a_SOURCES += \
	%D%/epoch_table.c %D%/epoch_table.h \
	%D%/board.c %D%/board.h \
	%D%/csv.c %D%/csv.h \
	%D%/figure.c %D%/figure.h \
	%D%/json.c %D%/json.h \
	%D%/pick.c %D%/pick.h \
	%D%/source.c %D%/source.h \
	%D%/view.c %D%/view.h
