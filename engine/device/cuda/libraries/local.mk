if HAVE_CUDA_TOOLKIT
libcuda_backend_a_SOURCES += \
	%D%/api.c %D%/api.h \
	%D%/driver.c %D%/driver.h \
	%D%/loader.c %D%/loader.h

if HAVE_NCCL
libcuda_backend_a_SOURCES += %D%/nccl.c %D%/nccl.h
endif
endif
