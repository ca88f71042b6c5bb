if HAVE_CHECK
check_PROGRAMS += %D%/test_run %D%/test_run_results %D%/test_control %D%/test_retune
run_fixture = %D%/run_fixture.c %D%/run_fixture.h tests/recorder.c tests/recorder.h \
	tests/fakes/fake_backend.c tests/fakes/fake_backend.h
%C%_test_run_CPPFLAGS = $(tests_engine_train_split_test_split_CPPFLAGS)
%C%_test_run_SOURCES = %D%/test_run.c $(run_fixture)
%C%_test_run_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_run_results_CPPFLAGS = $(tests_engine_train_split_test_split_CPPFLAGS)
%C%_test_run_results_SOURCES = %D%/test_run_results.c $(run_fixture)
%C%_test_run_results_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_control_CPPFLAGS = $(tests_engine_train_split_test_split_CPPFLAGS)
%C%_test_control_SOURCES = %D%/test_control.c $(run_fixture)
%C%_test_control_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_retune_CPPFLAGS = $(tests_engine_train_split_test_split_CPPFLAGS)
%C%_test_retune_SOURCES = %D%/test_retune.c $(run_fixture)
%C%_test_retune_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
endif
