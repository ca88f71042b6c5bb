if HAVE_CHECK
check_PROGRAMS += %D%/test_state
check_PROGRAMS += %D%/test_run_list
%C%_test_state_SOURCES = %D%/test_state.c $(ui_replay)
%C%_test_state_LDADD = $(ui_test_libs)
%C%_test_run_list_SOURCES = %D%/test_run_list.c
%C%_test_run_list_LDADD = $(ui_test_libs)
endif
