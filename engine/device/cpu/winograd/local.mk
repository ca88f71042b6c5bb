libcpu_a_SOURCES += \
	%D%/avx2.c \
	%D%/avx2_bf16.c \
	%D%/avx512.c \
	%D%/avx512_bf16.c \
	%D%/blocked.h \
	%D%/fixed.h \
	%D%/groups.c %D%/groups.h \
	%D%/maps.h \
	%D%/kernels.h \
	%D%/plan.c %D%/plan.h \
	%D%/sizes.h \
	%D%/table.h \
	%D%/transforms.h \
	%D%/values.c %D%/values.h \
	%D%/weights.c %D%/weights.h \
	%D%/weights_avx2.c \
	%D%/weights_avx2_bf16.c \
	%D%/weights_avx512.c \
	%D%/weights_avx512_bf16.c \
	%D%/weights_blocked.h \
	%D%/weights_fixed.h \
	%D%/weights_plan.c %D%/weights_plan.h \
	%D%/weights_table.h \
	%D%/weights_tiles.h
