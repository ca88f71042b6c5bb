libcpu_a_SOURCES += \
	%D%/kernels.h \
	%D%/avx2.c \
	%D%/avx2_bf16.c \
	%D%/avx512.c \
	%D%/avx512_bf16.c \
	%D%/blocked.h \
	%D%/stored.h \
	%D%/plain.c \
	%D%/plain_bf16.c \
	%D%/plain_loops.h \
	%D%/processor.h \
	%D%/transpose.h \
	%D%/vector.h \
	%D%/vector_avx2.h \
	%D%/vector_avx512.h
