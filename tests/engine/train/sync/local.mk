if HAVE_CHECK
check_PROGRAMS += %D%/test_barrier %D%/test_transport
%C%_test_barrier_SOURCES = %D%/test_barrier.c
%C%_test_barrier_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
%C%_test_transport_SOURCES = %D%/test_transport.c \
	tests/fakes/posing_backend.c tests/fakes/posing_backend.h \
	tests/fakes/posing_collective.c $(parallel_fixture)
%C%_test_transport_LDFLAGS = $(tests_engine_train_run_test_parallel_LDFLAGS)
%C%_test_transport_LDADD = libtrain.a libboard.a libcpu.a libplan.a $(TRAIN_LIBS) $(DNNL_LIBS)
endif
