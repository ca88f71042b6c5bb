libtrain_a_SOURCES += \
	%D%/command.c \
	%D%/connect.c \
	%D%/control.c \
	%D%/event_log.c %D%/event_log.h \
	%D%/figures.c %D%/figures.h \
	%D%/inspect.c \
	%D%/plans.c \
	%D%/prepare.c \
	%D%/progress.c \
	%D%/report.c \
	%D%/retune.c \
	%D%/run.c %D%/run.h \
	%D%/run_state.h
