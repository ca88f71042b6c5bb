if HAVE_CUDA_TOOLKIT
# Several GPUs.
libcuda_backend_a_SOURCES += %D%/facts.c %D%/group.c %D%/group.h %D%/peer.c

if HAVE_NCCL
libcuda_backend_a_SOURCES += \
	%D%/nccl_api.c %D%/nccl_api.h \
	%D%/nccl.c \
	%D%/nccl_guard.c %D%/nccl_guard.h
endif
endif
