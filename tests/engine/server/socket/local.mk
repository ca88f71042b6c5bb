if HAVE_CHECK
check_PROGRAMS += %D%/test_budget
%C%_test_budget_SOURCES = %D%/test_budget.c tests/fakes/fake_run.c
%C%_test_budget_LDADD = $(tests_engine_server_test_protocol_LDADD)
endif
