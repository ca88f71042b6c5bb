if HAVE_CHECK
check_PROGRAMS += %D%/test_store %D%/test_store_opening
store_show = %D%/store_show.c %D%/store_show.h
store_case = %D%/store_case.c %D%/store_case.h tests/support.c tests/support.h
%C%_test_store_SOURCES = %D%/test_store.c $(store_case) $(store_show)
%C%_test_store_LDADD = libstore.a libspec.a libbase.a $(CHECK_LIBS) $(SQLITE_LIBS) $(JANSSON_LIBS)
%C%_test_store_opening_SOURCES = %D%/test_store_opening.c $(store_case)
%C%_test_store_opening_LDADD = $(%C%_test_store_LDADD)
endif
