libcpu_a_SOURCES += \
	%D%/strided.c %D%/strided.h \
	%D%/avx2.c \
	%D%/avx512.c \
	%D%/blocked.h \
	%D%/lines.h \
	%D%/multiply.h \
	%D%/plain.h \
	%D%/tiles.h \
	%D%/weights.h
