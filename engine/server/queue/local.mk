libserver_a_SOURCES += \
	%D%/announce.c %D%/announce.h \
	%D%/events.c %D%/events.h \
	%D%/notifier.c %D%/notifier.h \
	%D%/queue.c %D%/queue.h \
	%D%/resume.c %D%/resume.h \
	%D%/runner.c %D%/runner.h
