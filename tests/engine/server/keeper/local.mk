if HAVE_CHECK
check_PROGRAMS += %D%/test_keeper %D%/test_full_disk
check_PROGRAMS += %D%/test_barrier
check_PROGRAMS += %D%/test_inspection
%C%_test_barrier_CPPFLAGS = $(libserver_a_CPPFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
%C%_test_barrier_SOURCES = %D%/test_barrier.c tests/support.c tests/support.h
%C%_test_barrier_LDADD = $(%C%_test_keeper_LDADD)
%C%_test_keeper_CPPFLAGS = $(libserver_a_CPPFLAGS) $(CHECK_CFLAGS)
%C%_test_keeper_SOURCES = \
	%D%/test_keeper.c %D%/keeper_fixture.c %D%/keeper_fixture.h \
	tests/support.c tests/support.h
%C%_test_keeper_LDADD = libserver.a libstore.a libspec.a libbase.a $(JANSSON_LIBS) \
	$(SQLITE_LIBS) $(PTHREAD_LIBS) $(CHECK_LIBS)
%C%_test_inspection_CPPFLAGS = $(%C%_test_keeper_CPPFLAGS) $(SQLITE_CFLAGS)
%C%_test_inspection_SOURCES = %D%/test_inspection.c tests/support.c tests/support.h
%C%_test_inspection_LDADD = $(%C%_test_keeper_LDADD)
%C%_test_full_disk_CPPFLAGS = $(%C%_test_keeper_CPPFLAGS)
%C%_test_full_disk_SOURCES = \
	%D%/test_full_disk.c %D%/keeper_fixture.c %D%/keeper_fixture.h \
	tests/support.c tests/support.h
%C%_test_full_disk_LDADD = $(%C%_test_keeper_LDADD)
endif
