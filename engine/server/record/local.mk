libserver_a_SOURCES += \
	%D%/curve.c %D%/curve.h \
	%D%/event_mark.c %D%/event_mark.h \
	%D%/event_buffer.c %D%/event_buffer.h \
	%D%/record.c %D%/record.h \
	%D%/json.c %D%/json.h \
	%D%/labels.c %D%/labels.h \
	%D%/restore.c %D%/restore.h \
	%D%/thinning.c %D%/thinning.h \
	%D%/warnings.c %D%/warnings.h
