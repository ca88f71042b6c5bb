# What defines a run, shared by both programs
noinst_LIBRARIES += libspec.a
libspec_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libspec_a_SOURCES = \
	%D%/device_list.c \
	%D%/spec.c %D%/spec.h \
	%D%/fields.h \
	%D%/json.c \
	%D%/set.c \
	%D%/text.c
