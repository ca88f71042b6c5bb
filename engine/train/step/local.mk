libtrain_a_SOURCES += \
	%D%/evaluation.c %D%/evaluation.h \
	%D%/plans.c %D%/plans.h \
	%D%/rank.c %D%/rank.h \
	%D%/ranks.c %D%/ranks.h \
	%D%/training.c %D%/training.h \
	%D%/worker.c %D%/worker.h \
	%D%/workload.c %D%/workload.h
