if HAVE_CHECK
check_PROGRAMS += %D%/test_weights %D%/test_normalization
%C%_test_weights_SOURCES = %D%/test_weights.c tests/support.c tests/support.h
%C%_test_weights_LDADD = $(tests_engine_net_test_net_LDADD)
%C%_test_normalization_SOURCES = %D%/test_normalization.c tests/support.c tests/support.h
%C%_test_normalization_LDADD = $(tests_engine_net_test_net_LDADD)
endif
