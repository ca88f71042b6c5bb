libtrain_a_SOURCES += \
	%D%/checkpoints.c %D%/checkpoints.h \
	%D%/command.c %D%/command.h \
	%D%/control.c %D%/control.h \
	%D%/epoch.c %D%/epoch.h \
	%D%/learning.c %D%/learning.h \
	%D%/live_change.c %D%/live_change.h \
	%D%/load_balance.c %D%/load_balance.h \
	%D%/meet.c %D%/meet.h \
	%D%/prepare.c %D%/prepare.h \
	%D%/profiler.c %D%/profiler.h \
	%D%/progress.c %D%/progress.h \
	%D%/report.c %D%/report.h \
	%D%/resume.c \
	%D%/run.c %D%/run.h \
	%D%/steps.c %D%/steps.h \
	%D%/state.h
