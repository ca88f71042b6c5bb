if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/conv_bench.c %D%/conv_bench.h \
	%D%/conv_check.c %D%/conv_check.h \
	%D%/conv_choices.c %D%/conv_choices.h \
	%D%/conv_graph.c %D%/conv_graph.h \
	%D%/conv_order.c %D%/conv_order.h \
	%D%/conv_plan.c %D%/conv_plan.h \
	%D%/conv_reference.c %D%/conv_reference.h \
	%D%/conv_request.c %D%/conv_request.h \
	%D%/conv_search.c %D%/conv_search.h \
	%D%/conv_store.c %D%/conv_store.h \
	%D%/conv_table.c %D%/conv_table.h \
	%D%/conv_tune.c %D%/conv_tune.h \
	%D%/desc.c %D%/desc.h \
	%D%/engine.c %D%/engine.h \
	%D%/matmul.c %D%/matmul.h
endif
