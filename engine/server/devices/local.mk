libserver_a_SOURCES += \
	%D%/environment.c %D%/environment.h \
	%D%/gpu_survey.c %D%/gpu_survey.h \
	%D%/table.c %D%/table.h
