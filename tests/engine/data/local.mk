if HAVE_CHECK
check_PROGRAMS += %D%/test_data %D%/test_idx %D%/test_glyphs %D%/test_fashion_mnist \
	%D%/test_statistics
data_fixture = %D%/data_fixture.c %D%/data_fixture.h tests/support.c tests/support.h
%C%_test_data_SOURCES = %D%/test_data.c $(data_fixture)
%C%_test_idx_SOURCES = %D%/test_idx.c $(data_fixture)
%C%_test_idx_LDADD = $(%C%_test_data_LDADD)
%C%_test_data_LDADD = libdata.a libbase.a $(CHECK_LIBS) $(DATA_LIBS)
%C%_test_statistics_LDADD = $(%C%_test_data_LDADD)
%C%_test_glyphs_LDADD = $(%C%_test_data_LDADD)
%C%_test_fashion_mnist_SOURCES = %D%/test_fashion_mnist.c tests/support.c tests/support.h
%C%_test_fashion_mnist_LDADD = $(tests_engine_fetch_test_fetch_LDADD)
endif
