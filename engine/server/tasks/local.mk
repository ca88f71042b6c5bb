libserver_a_SOURCES += \
	%D%/devices.c %D%/devices.h \
	%D%/gpu_survey.c %D%/gpu_survey.h \
	%D%/memory_plan.c %D%/memory_plan.h \
	%D%/model.c \
	%D%/saved.c \
	%D%/task.c %D%/task.h
