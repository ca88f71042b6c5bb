if HAVE_CHECK
check_PROGRAMS += %D%/test_data %D%/test_idx %D%/test_glyphs %D%/test_fashion_mnist
data_fixture = %D%/data_fixture.c %D%/data_fixture.h tests/support.c tests/support.h
%C%_test_data_SOURCES = %D%/test_data.c $(data_fixture)
%C%_test_idx_SOURCES = %D%/test_idx.c $(data_fixture)
%C%_test_idx_CPPFLAGS = $(%C%_test_data_CPPFLAGS)
%C%_test_idx_LDADD = $(%C%_test_data_LDADD)
%C%_test_data_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(ZLIB_CFLAGS)
%C%_test_data_LDADD = libdata.a libbase.a $(CHECK_LIBS) $(ZLIB_LIBS)
%C%_test_glyphs_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
%C%_test_glyphs_LDADD = $(%C%_test_data_LDADD)
%C%_test_fashion_mnist_SOURCES = %D%/test_fashion_mnist.c tests/support.c tests/support.h
%C%_test_fashion_mnist_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
%C%_test_fashion_mnist_LDADD = $(tests_engine_fetch_test_fetch_LDADD)
endif
