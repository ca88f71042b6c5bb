# Files of events: for TensorBoard, and as lines of JSON
noinst_LIBRARIES += libboard.a
libboard_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libboard_a_SOURCES = \
	%D%/board.c %D%/board.h \
	%D%/event_file.c %D%/event_file.h \
	%D%/event_log.c %D%/event_log.h
