# The workbench
noinst_LIBRARIES += libui.a
libui_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(NCURSESW_CFLAGS)
libui_a_SOURCES =

if HAVE_CHECK
ui_test_libs = libsettings.a libui.a libclient.a libspec.a libbase.a $(CHECK_LIBS) $(JANSSON_LIBS) \
	$(LIBCONFIG_LIBS)
endif
