# Shared by both programs
noinst_LIBRARIES += libbase.a
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libbase_a_SOURCES = \
	%D%/array.c %D%/array.h \
	%D%/choices.c %D%/choices.h \
	%D%/clock.c %D%/clock.h \
	%D%/conf_text.c %D%/conf_text.h \
	%D%/deadline.h \
	%D%/error.c %D%/error.h \
	%D%/escape.c %D%/escape.h \
	%D%/figure.c %D%/figure.h \
	%D%/file.c %D%/file.h \
	%D%/json.c %D%/json.h \
	%D%/nearest.c %D%/nearest.h \
	%D%/paths.c %D%/paths.h \
	%D%/print.c %D%/print.h \
	%D%/rng.c %D%/rng.h \
	%D%/rng_purpose.h \
	%D%/text.c %D%/text.h
