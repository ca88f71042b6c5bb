if HAVE_CHECK
check_PROGRAMS += %D%/test_settings %D%/test_settings_saved %D%/test_settings_unsaved
saved_fixture = %D%/saved_fixture.c %D%/saved_fixture.h tests/support.c tests/support.h \
	src/settings/settings.c
%C%_test_settings_SOURCES = %D%/test_settings.c src/settings/settings.c
%C%_test_settings_CPPFLAGS = $(AM_CPPFLAGS) -UDPARTUI_SYSCONFDIR -DDPARTUI_SYSCONFDIR='"etc"'
%C%_test_settings_LDADD = libsettings.a libui.a libspec.a libbase.a $(LIBCONFIG_LIBS) \
	$(JANSSON_LIBS) $(CHECK_LIBS)
%C%_test_settings_saved_SOURCES = %D%/test_settings_saved.c $(saved_fixture)
%C%_test_settings_saved_CPPFLAGS = $(%C%_test_settings_CPPFLAGS)
%C%_test_settings_saved_LDADD = $(%C%_test_settings_LDADD)
%C%_test_settings_unsaved_SOURCES = %D%/test_settings_unsaved.c $(saved_fixture)
%C%_test_settings_unsaved_CPPFLAGS = $(%C%_test_settings_CPPFLAGS)
%C%_test_settings_unsaved_LDADD = $(%C%_test_settings_LDADD)
endif
