libui_a_SOURCES += \
	%D%/forecast.c %D%/forecast.h \
	%D%/loss.c %D%/loss.h \
	%D%/measure.c %D%/measure.h \
	%D%/noise.c %D%/noise.h \
	%D%/noted.c %D%/noted.h \
	%D%/outcome.c %D%/outcome.h \
	%D%/plan.c %D%/plan.h \
	%D%/predict.c %D%/predict.h \
	%D%/range.c %D%/range.h \
	%D%/sentence.c %D%/sentence.h \
	%D%/series.c %D%/series.h \
	%D%/spread.c %D%/spread.h \
	%D%/study.c %D%/study.h \
	%D%/sweep.c %D%/sweep.h \
	%D%/table.c %D%/table.h
