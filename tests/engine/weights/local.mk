if HAVE_CHECK
check_PROGRAMS += %D%/test_weights
%C%_test_weights_SOURCES = %D%/test_weights.c tests/support.c tests/support.h
%C%_test_weights_LDADD = $(tests_engine_net_test_net_LDADD)
endif
