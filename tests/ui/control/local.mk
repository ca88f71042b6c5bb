if HAVE_CHECK
check_PROGRAMS += \
	%D%/test_chart_keys %D%/test_keymap %D%/test_settings_view %D%/test_sweep
%C%_test_settings_view_CPPFLAGS = $(ui_test_cppflags)
%C%_test_settings_view_SOURCES = \
	%D%/test_settings_view.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_settings_view_LDADD = $(ui_test_libs)
%C%_test_keymap_CPPFLAGS = $(ui_test_cppflags)
%C%_test_keymap_SOURCES = \
	%D%/test_keymap.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_keymap_LDADD = $(ui_test_libs)
%C%_test_chart_keys_CPPFLAGS = $(ui_test_cppflags)
%C%_test_chart_keys_SOURCES = \
	%D%/test_chart_keys.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_chart_keys_LDADD = $(ui_test_libs)
%C%_test_sweep_CPPFLAGS = $(ui_test_cppflags)
%C%_test_sweep_SOURCES = \
	%D%/test_sweep.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_sweep_LDADD = $(ui_test_libs)
endif
