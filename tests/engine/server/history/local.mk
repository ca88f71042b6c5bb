if HAVE_CHECK
check_PROGRAMS += %D%/test_writer %D%/test_full_disk
check_PROGRAMS += %D%/test_flush
check_PROGRAMS += %D%/test_inspection
%C%_test_flush_SOURCES = %D%/test_flush.c tests/support.c tests/support.h
%C%_test_flush_LDADD = $(%C%_test_writer_LDADD)
%C%_test_writer_SOURCES = \
	%D%/test_writer.c %D%/fixture.c %D%/fixture.h \
	tests/support.c tests/support.h
%C%_test_writer_LDADD = libserver.a libstore.a libspec.a libbase.a $(JANSSON_LIBS) \
	$(SQLITE_LIBS) $(PTHREAD_LIBS) $(CHECK_LIBS)
%C%_test_inspection_SOURCES = %D%/test_inspection.c tests/support.c tests/support.h
%C%_test_inspection_LDADD = $(%C%_test_writer_LDADD)
%C%_test_full_disk_SOURCES = \
	%D%/test_full_disk.c %D%/fixture.c %D%/fixture.h \
	tests/support.c tests/support.h
%C%_test_full_disk_LDADD = $(%C%_test_writer_LDADD)
endif
