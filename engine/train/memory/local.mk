libtrain_a_SOURCES += \
	%D%/plan.c %D%/plan.h
