# The runs that are kept, written by the engine, read by both programs
noinst_LIBRARIES += libstore.a
libstore_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)
libstore_a_SOURCES = \
	%D%/database.c %D%/database.h \
	%D%/doubt.c %D%/doubt.h \
	%D%/examine.c %D%/examine.h \
	%D%/kept_epochs.c %D%/kept_epochs.h \
	%D%/list.c %D%/list.h \
	%D%/lock.c %D%/lock.h \
	%D%/place.c %D%/place.h \
	%D%/query.c %D%/query.h \
	%D%/read.c %D%/read.h \
	%D%/replace.c %D%/replace.h \
	%D%/rows.c %D%/rows.h \
	%D%/store.c %D%/store.h \
	%D%/update.c %D%/update.h \
	%D%/write.c %D%/write.h \
	%D%/writing.c %D%/writing.h

# For the sqlite3 shell, which reads damaged stores.
# Without sanitizers, which that shell lacks.
moduledir = $(pkglibdir)
module_DATA = dpartui-dbpage.so
CLEANFILES += dpartui-dbpage.so
dpartui-dbpage.so: %D%/rescue/dbpage.c
	$(AM_V_CCLD)$(CC) -std=gnu11 $(WARN_CFLAGS) $(SQLITE_CFLAGS) $(CPPFLAGS) $(CFLAGS) \
		-fPIC -shared $(LDFLAGS) -o $@ $(srcdir)/%D%/rescue/dbpage.c
