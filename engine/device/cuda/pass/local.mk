if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/block.c %D%/block.h \
	%D%/plan.h \
	%D%/queue.c %D%/queue.h \
	%D%/rows.c %D%/rows.h \
	%D%/segments.c %D%/segments.h \
	%D%/step_times.c %D%/step_times.h \
	%D%/workspace.c %D%/workspace.h
endif
