if HAVE_CHECK
check_PROGRAMS += %D%/test_device_views %D%/test_log_view
check_PROGRAMS += %D%/test_ui_run %D%/test_ui_runs %D%/test_ui_said
%C%_test_device_views_CPPFLAGS = $(ui_test_cppflags)
%C%_test_device_views_SOURCES = \
	%D%/test_device_views.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_device_views_LDADD = $(ui_test_libs)
%C%_test_log_view_CPPFLAGS = $(ui_test_cppflags)
%C%_test_log_view_SOURCES = \
	%D%/test_log_view.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_log_view_LDADD = $(ui_test_libs)
%C%_test_ui_run_CPPFLAGS = $(ui_test_cppflags)
%C%_test_ui_run_SOURCES = %D%/test_ui_run.c $(runs_fixture)
%C%_test_ui_run_LDADD = $(ui_test_libs)
%C%_test_ui_runs_CPPFLAGS = $(ui_test_cppflags)
%C%_test_ui_runs_SOURCES = %D%/test_ui_runs.c $(runs_fixture)
%C%_test_ui_runs_LDADD = $(ui_test_libs)
%C%_test_ui_said_CPPFLAGS = $(ui_test_cppflags)
%C%_test_ui_said_SOURCES = %D%/test_ui_said.c $(runs_fixture)
%C%_test_ui_said_LDADD = $(ui_test_libs)
endif
