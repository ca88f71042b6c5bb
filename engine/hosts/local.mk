# Runs over several hosts, as the engine starts them
noinst_LIBRARIES += libhosts.a
libhosts_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libhosts_a_SOURCES = \
	%D%/complaint.c %D%/complaint.h \
	%D%/launcher.c %D%/launcher.h \
	%D%/lines.c %D%/lines.h \
	%D%/progress.c %D%/progress.h \
	%D%/train.c %D%/train.h
