libtrain_a_SOURCES += %D%/epoch.c %D%/evaluate.c %D%/rank.c %D%/steps.c %D%/worker.c %D%/worker.h
