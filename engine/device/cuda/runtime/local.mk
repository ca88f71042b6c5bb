if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/device.c %D%/device.h \
	%D%/memory.c %D%/memory.h \
	%D%/turn.c %D%/turn.h \
	%D%/wait.c %D%/wait.h
endif
