libcommand_a_SOURCES += \
	%D%/check_checkpoints.c %D%/check_checkpoints.h \
	%D%/check.c \
	%D%/compare.c \
	%D%/completion.c \
	%D%/devices.c \
	%D%/display.c %D%/display.h \
	%D%/eval.c \
	%D%/engine.c \
	%D%/export.c \
	%D%/fetch.c \
	%D%/list.c %D%/list.h \
	%D%/model.c \
	%D%/predict.c \
	%D%/runs.c \
	%D%/screen.c \
	%D%/show.c \
	%D%/stop.c \
	%D%/train.c \
	%D%/workbench.c \
	%D%/follow.c %D%/follow.h \
	%D%/runs_change.c %D%/runs_change.h \
	%D%/runs_repair.c %D%/runs_repair.h \
	%D%/compare_options.c %D%/compare_options.h
