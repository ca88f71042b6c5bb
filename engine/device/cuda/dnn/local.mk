if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/desc.c %D%/desc.h \
	%D%/engine.c %D%/engine.h \
	%D%/matmul.c %D%/matmul.h
endif
