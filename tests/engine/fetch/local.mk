if HAVE_CHECK
check_PROGRAMS += %D%/test_fetch %D%/test_archive
%C%_test_fetch_SOURCES = \
	%D%/test_fetch.c %D%/fetch_fixture.c %D%/fetch_fixture.h \
	tests/fakes/http_server.c tests/fakes/http_server.h tests/support.c tests/support.h
%C%_test_fetch_LDADD = libfetch.a libdata.a libbase.a \
	$(CHECK_LIBS) $(CURL_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) $(PTHREAD_LIBS)
%C%_test_archive_SOURCES = %D%/test_archive.c tests/support.c tests/support.h
%C%_test_archive_LDADD = $(%C%_test_fetch_LDADD)
endif
