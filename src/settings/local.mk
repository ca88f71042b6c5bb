# Configuration files and environment
noinst_LIBRARIES += libsettings.a
libsettings_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCONFIG_CFLAGS) $(JANSSON_CFLAGS)
libsettings_a_SOURCES = \
	%D%/settings.c %D%/settings.h \
	%D%/engine.c %D%/engine.h \
	%D%/file.c %D%/file.h \
	%D%/hosts.c %D%/hosts.h \
	%D%/saved.c %D%/saved.h \
	%D%/keys.c %D%/keys.h
