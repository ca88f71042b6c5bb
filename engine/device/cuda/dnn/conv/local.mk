if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/bench.c %D%/bench.h \
	%D%/check.c %D%/check.h \
	%D%/choices.c %D%/choices.h \
	%D%/graph.c %D%/graph.h \
	%D%/order.c %D%/order.h \
	%D%/plan.c %D%/plan.h \
	%D%/reference.c %D%/reference.h \
	%D%/request.c %D%/request.h \
	%D%/search.c %D%/search.h \
	%D%/store.c %D%/store.h \
	%D%/table.c %D%/table.h \
	%D%/autotune.c %D%/autotune.h
endif
