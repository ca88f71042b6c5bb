if HAVE_CUDA_TOOLKIT
# Several GPUs.
libcuda_backend_a_SOURCES += %D%/group.c %D%/group.h %D%/peer.c %D%/peer.h

if HAVE_NCCL
libcuda_backend_a_SOURCES += \
	%D%/nccl.c %D%/nccl.h \
	%D%/nccl_guard.c %D%/nccl_guard.h \
	%D%/nccl_marks.c %D%/nccl_marks.h
endif
endif
