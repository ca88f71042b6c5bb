# What defines a run, shared by both programs
noinst_LIBRARIES += libspec.a
libspec_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libspec_a_SOURCES = \
	%D%/data.h \
	%D%/device_list.c %D%/device_list.h \
	%D%/difference.c %D%/difference.h \
	%D%/fields.c %D%/fields.h \
	%D%/fill.c %D%/fill.h \
	%D%/gpu_use.h \
	%D%/hosts.c %D%/hosts.h \
	%D%/json.c %D%/json.h \
	%D%/likeness.c %D%/likeness.h \
	%D%/names.c %D%/names.h \
	%D%/origin.c %D%/origin.h \
	%D%/schedule.c %D%/schedule.h \
	%D%/set.c %D%/set.h \
	%D%/spec.c %D%/spec.h \
	%D%/text.c %D%/text.h \
	%D%/values.c %D%/values.h
