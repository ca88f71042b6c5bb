if HAVE_CHECK
check_PROGRAMS += %D%/test_ui_state
check_PROGRAMS += %D%/test_run_list
%C%_test_ui_state_CPPFLAGS = $(ui_test_cppflags)
%C%_test_ui_state_SOURCES = \
	%D%/test_ui_state.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_ui_state_LDADD = $(ui_test_libs)
%C%_test_run_list_CPPFLAGS = $(ui_test_cppflags)
%C%_test_run_list_SOURCES = %D%/test_run_list.c
%C%_test_run_list_LDADD = $(ui_test_libs)
endif
