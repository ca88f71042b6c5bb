if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/arenas.c %D%/arenas.h \
	%D%/layout.c %D%/layout.h \
	%D%/update.c %D%/update.h
endif
