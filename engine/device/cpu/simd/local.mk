libcpu_a_SOURCES += \
	%D%/kernels.h \
	%D%/avx2.c \
	%D%/avx512.c \
	%D%/blocked.h \
	%D%/plain.c \
	%D%/processor.h \
	%D%/transpose.h \
	%D%/vector.h \
	%D%/vector_avx2.h \
	%D%/vector_avx512.h
