if HAVE_CHECK
check_PROGRAMS += %D%/test_worker
%C%_test_worker_SOURCES = %D%/test_worker.c
%C%_test_worker_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
endif
