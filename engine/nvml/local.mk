libserver_a_SOURCES += \
	%D%/gpu_list.c %D%/gpu_list.h \
	%D%/nvml.c %D%/nvml.h \
	%D%/api.h \
	%D%/gpu.c %D%/gpu.h \
	%D%/library.c %D%/library.h \
	%D%/processes.c %D%/processes.h \
	%D%/scan.c %D%/scan.h
