libtrain_a_SOURCES += %D%/plans.c %D%/rank.c %D%/worker.c %D%/worker.h
