if HAVE_CHECK
check_PROGRAMS += %D%/test_unequal %D%/test_parallel
parallel_fixture = %D%/parallel_fixture.c %D%/parallel_fixture.h \
	tests/recorder.c tests/recorder.h tests/support.c tests/support.h
%C%_test_parallel_CPPFLAGS = $(%C%_split_test_split_CPPFLAGS)
%C%_test_parallel_SOURCES = %D%/test_parallel.c $(parallel_fixture)
%C%_test_parallel_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_parallel_LDADD = libtrain.a libboard.a libdevice.a libcpu.a $(CUDA_BACKEND_LIBS) libplan.a \
	$(TRAIN_LIBS) $(DNNL_LIBS)
%C%_test_unequal_CPPFLAGS = $(%C%_split_test_split_CPPFLAGS)
%C%_test_unequal_SOURCES = \
	%D%/test_unequal.c tests/fakes/slow_backend.c tests/fakes/slow_backend.h \
	$(parallel_fixture)
%C%_test_unequal_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_unequal_LDADD = libtrain.a libboard.a libcpu.a libplan.a $(TRAIN_LIBS) $(DNNL_LIBS)
endif
