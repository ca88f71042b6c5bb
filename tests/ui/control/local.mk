if HAVE_CHECK
check_PROGRAMS += \
	%D%/test_chart_curves %D%/test_chart_keys %D%/test_settings %D%/test_sweep
chart_fixture = %D%/chart_fixture.c %D%/chart_fixture.h $(ui_replay)
%C%_test_settings_SOURCES = %D%/test_settings.c $(ui_replay)
%C%_test_settings_LDADD = $(ui_test_libs)
%C%_test_chart_curves_SOURCES = %D%/test_chart_curves.c $(chart_fixture)
%C%_test_chart_curves_LDADD = $(ui_test_libs)
%C%_test_chart_keys_SOURCES = %D%/test_chart_keys.c $(chart_fixture)
%C%_test_chart_keys_LDADD = $(ui_test_libs)
%C%_test_sweep_SOURCES = %D%/test_sweep.c $(ui_replay)
%C%_test_sweep_LDADD = $(ui_test_libs)
endif
