libtrain_a_SOURCES += \
	%D%/checkpoints.c \
	%D%/command.c \
	%D%/connect.c \
	%D%/control.c \
	%D%/epoch.c \
	%D%/evaluate.c \
	%D%/event_log.c %D%/event_log.h \
	%D%/live_change.c \
	%D%/load_balance.c \
	%D%/prepare.c \
	%D%/profiler.c \
	%D%/progress.c \
	%D%/report.c \
	%D%/run.c %D%/run.h \
	%D%/run_state.h \
	%D%/steps.c
