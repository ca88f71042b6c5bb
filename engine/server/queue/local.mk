libserver_a_SOURCES += \
	%D%/announce.c %D%/announce.h \
	%D%/queue.c %D%/queue.h \
	%D%/queue_internal.h \
	%D%/events.c \
	%D%/resume.c \
	%D%/runner.c
