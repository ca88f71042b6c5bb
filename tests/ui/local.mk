if HAVE_CHECK
check_PROGRAMS += %D%/test_views
ui_replay = %D%/replay.c %D%/replay.h tests/support.c tests/support.h
runs_fixture = %D%/runs_fixture.c %D%/runs_fixture.h $(ui_replay)
check_PROGRAMS += %D%/test_matrix %D%/test_parts %D%/test_states
EXTRA_DIST += %D%/golden %D%/recordings
%C%_test_views_SOURCES = \
	%D%/test_views.c %D%/golden_case.c %D%/golden_case.h $(ui_replay)
%C%_test_views_LDADD = $(ui_test_libs)
%C%_test_matrix_SOURCES = \
	%D%/test_matrix.c %D%/golden_case.c %D%/golden_case.h $(ui_replay)
%C%_test_matrix_LDADD = $(ui_test_libs)
%C%_test_parts_SOURCES = %D%/test_parts.c $(ui_replay)
%C%_test_parts_LDADD = $(ui_test_libs)
%C%_test_states_SOURCES = \
	%D%/test_states.c %D%/golden_case.c %D%/golden_case.h $(ui_replay)
%C%_test_states_LDADD = $(ui_test_libs)
endif
