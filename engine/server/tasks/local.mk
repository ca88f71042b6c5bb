libserver_a_SOURCES += \
	%D%/devices.c \
	%D%/memory_plan.c %D%/memory_plan.h \
	%D%/model.c \
	%D%/saved.c \
	%D%/task.c %D%/task.h
