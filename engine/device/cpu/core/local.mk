libcpu_a_SOURCES += \
	%D%/device.h \
	%D%/kinds.h \
	%D%/machine.c %D%/machine.h \
	%D%/mapping.c %D%/mapping.h \
	%D%/number.c %D%/number.h \
	%D%/onednn.c %D%/onednn.h \
	%D%/parameters.c %D%/parameters.h \
	%D%/plan.h \
	%D%/primitive.c %D%/primitive.h \
	%D%/team.h
