libserver_a_SOURCES += \
	%D%/flush.c %D%/flush.h \
	%D%/writer.c %D%/writer.h \
	%D%/inspection.c %D%/inspection.h \
	%D%/open.c %D%/open.h \
	%D%/store.c %D%/store.h \
	%D%/store_work.c %D%/store_work.h \
	%D%/backlog.c %D%/backlog.h
