if HAVE_CHECK
check_PROGRAMS += %D%/test_run_pick %D%/test_export
%C%_test_run_pick_SOURCES = %D%/test_run_pick.c tests/support.c tests/support.h
%C%_test_run_pick_LDADD = $(tests_src_cli_test_command_LDADD)
%C%_test_export_SOURCES = %D%/test_export.c
%C%_test_export_LDADD = $(%C%_test_run_pick_LDADD)
endif
