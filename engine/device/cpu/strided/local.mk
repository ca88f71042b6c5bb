libcpu_a_SOURCES += \
	%D%/avx2.c \
	%D%/avx512.c \
	%D%/blocked.h \
	%D%/kernels.h \
	%D%/lines.h \
	%D%/multiply.h \
	%D%/plain.h \
	%D%/plan.c %D%/plan.h \
	%D%/tiles.h \
	%D%/weights.h
