libserver_a_SOURCES += \
	%D%/barrier.c %D%/barrier.h \
	%D%/keeper.c %D%/keeper.h \
	%D%/inspect.c %D%/inspect.h \
	%D%/open.c %D%/open.h \
	%D%/store.c %D%/store.h \
	%D%/store_work.c %D%/store_work.h \
	%D%/backlog.c %D%/backlog.h
