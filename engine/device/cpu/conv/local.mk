libcpu_a_SOURCES += \
	%D%/conv.c %D%/conv.h \
	%D%/beside.c %D%/beside.h \
	%D%/desc.c \
	%D%/memory.c \
	%D%/run.c %D%/run.h \
	%D%/trial.c %D%/trial.h \
	%D%/fold.c %D%/fold.h \
	%D%/method.c %D%/method.h \
	%D%/tune.c
