libtrain_a_SOURCES += \
	%D%/activity.c %D%/activity.h \
	%D%/best.c %D%/best.h \
	%D%/chance.c %D%/chance.h \
	%D%/evaluation.c %D%/evaluation.h \
	%D%/halves.c %D%/halves.h \
	%D%/outcome.c %D%/outcome.h \
	%D%/own_update.c %D%/own_update.h \
	%D%/plans.c %D%/plans.h \
	%D%/rank.c %D%/rank.h \
	%D%/ranks.c %D%/ranks.h \
	%D%/strategy.c %D%/strategy.h \
	%D%/training.c %D%/training.h \
	%D%/values.c %D%/values.h \
	%D%/worker.c %D%/worker.h \
	%D%/workload.c %D%/workload.h
