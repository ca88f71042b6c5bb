libtrain_a_SOURCES += \
	%D%/choose.c %D%/choose.h \
	%D%/evaluate.c %D%/evaluate.h \
	%D%/handover.c %D%/handover.h \
	%D%/layout.c %D%/layout.h \
	%D%/pipeline.c %D%/pipeline.h \
	%D%/predict.c %D%/predict.h \
	%D%/schedule.c %D%/schedule.h \
	%D%/stage.c %D%/stage.h \
	%D%/timeline.c %D%/timeline.h
