libbase_a_SOURCES += \
	%D%/changes.c %D%/changes.h \
	%D%/confusion.c %D%/confusion.h \
	%D%/profile.c %D%/profile.h \
	%D%/row_counts.c %D%/row_counts.h \
	%D%/status.c %D%/status.h \
	%D%/strategy.c %D%/strategy.h \
	%D%/timeline.c %D%/timeline.h
libcommand_a_SOURCES += %D%/device_names.c %D%/device_names.h
