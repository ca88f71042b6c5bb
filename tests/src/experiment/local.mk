if HAVE_CHECK
check_PROGRAMS += %D%/test_study
check_PROGRAMS += %D%/test_series
check_PROGRAMS += %D%/test_predict
check_PROGRAMS += %D%/test_noise
check_PROGRAMS += %D%/test_energy
%C%_test_study_SOURCES = \
	%D%/test_study.c %D%/test_table.c %D%/test_range.c \
	%D%/test_strategies.c %D%/test_forecast.c %D%/study_fixture.c %D%/study_fixture.h
%C%_test_study_LDADD = $(tests_src_cli_test_command_LDADD)
%C%_test_series_SOURCES = %D%/test_series.c
%C%_test_series_LDADD = $(ui_test_libs)
%C%_test_predict_SOURCES = %D%/test_predict.c
%C%_test_predict_LDADD = $(ui_test_libs)
%C%_test_noise_SOURCES = %D%/test_noise.c
%C%_test_noise_LDADD = $(ui_test_libs)
%C%_test_energy_SOURCES = %D%/test_energy.c
%C%_test_energy_LDADD = $(ui_test_libs)
endif
