libplan_a_SOURCES += \
	%D%/add_layer.c %D%/add_layer.h \
	%D%/batch_check.c %D%/batch_check.h \
	%D%/builder.c %D%/builder.h \
	%D%/graph.c %D%/graph.h \
	%D%/core.c %D%/core.h \
	%D%/memory_pool.c %D%/memory_pool.h \
	%D%/param_places.c %D%/param_places.h \
	%D%/stage_end.c %D%/stage_end.h \
	%D%/unary_layer.c %D%/unary_layer.h
