if HAVE_CHECK
check_PROGRAMS += %D%/test_model_file
%C%_test_model_file_SOURCES = %D%/test_model_file.c tests/support.c tests/support.h
%C%_test_model_file_LDADD = $(tests_engine_net_test_net_LDADD)
endif
