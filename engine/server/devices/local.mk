libserver_a_SOURCES += \
	%D%/environment.c %D%/environment.h \
	%D%/free_gpus.c %D%/free_gpus.h \
	%D%/gpu_survey.c %D%/gpu_survey.h \
	%D%/table.c %D%/table.h
