libtrain_a_SOURCES += \
	%D%/limit.c %D%/limit.h \
	%D%/plan.c %D%/plan.h
