libcpu_a_SOURCES += \
	%D%/describe.c %D%/describe.h \
	%D%/fusion.c %D%/fusion.h \
	%D%/kernel.c %D%/kernel.h \
	%D%/shape.c %D%/shape.h
