if HAVE_CHECK
check_PROGRAMS += %D%/test_study
check_PROGRAMS += %D%/test_compare
%C%_test_study_CPPFLAGS = $(libcommand_a_CPPFLAGS) $(CHECK_CFLAGS)
%C%_test_study_SOURCES = \
	%D%/test_study.c %D%/test_study_figures.c %D%/study_fixture.c %D%/study_fixture.h
%C%_test_study_LDADD = $(tests_src_cli_test_command_LDADD)
%C%_test_compare_CPPFLAGS = $(ui_test_cppflags)
%C%_test_compare_SOURCES = %D%/test_compare.c
%C%_test_compare_LDADD = $(ui_test_libs)
endif
