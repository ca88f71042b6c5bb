libserver_a_SOURCES += \
	%D%/checkpoints.c %D%/checkpoints.h \
	%D%/devices.c %D%/devices.h \
	%D%/evaluate.c %D%/evaluate.h \
	%D%/fetch.c %D%/fetch.h \
	%D%/memory_json.c %D%/memory_json.h \
	%D%/model.c %D%/model.h \
	%D%/predict.c %D%/predict.h \
	%D%/submit.c %D%/submit.h \
	%D%/task.c %D%/task.h \
	%D%/weights.c %D%/weights.h
