if HAVE_SIMGPU
if HAVE_CHECK
libsimgpu_a_SOURCES += \
	%D%/cublaslt.cpp %D%/cublaslt.hpp \
	%D%/cublaslt_desc.cpp \
	%D%/dnn.hpp \
	%D%/dnn_descriptor.cpp \
	%D%/dnn_execute.cpp \
	%D%/dnn_graph.cpp \
	%D%/dnn_plan.cpp \
	%D%/dnn_run.cpp \
	%D%/library.c \
	%D%/nccl.cpp %D%/nccl.hpp \
	%D%/nccl_collective.cpp \
	%D%/nccl_process.cpp %D%/nccl_process.hpp
endif
endif
