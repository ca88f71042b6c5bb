if HAVE_CHECK
check_PROGRAMS += %D%/test_checkpoint
check_PROGRAMS += %D%/test_checkpoint_damage
check_PROGRAMS += %D%/test_resume
check_PROGRAMS += %D%/test_saving
%C%_test_checkpoint_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
%C%_test_checkpoint_SOURCES = %D%/test_checkpoint.c tests/support.c tests/support.h
%C%_test_checkpoint_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_checkpoint_damage_CPPFLAGS = $(%C%_test_checkpoint_CPPFLAGS)
%C%_test_checkpoint_damage_SOURCES = %D%/test_checkpoint_damage.c tests/support.c tests/support.h
%C%_test_checkpoint_damage_LDADD = $(%C%_test_checkpoint_LDADD)
%C%_test_saving_CPPFLAGS = $(tests_engine_train_split_test_split_CPPFLAGS)
%C%_test_saving_SOURCES = \
	%D%/test_saving.c tests/recorder.c tests/recorder.h tests/support.c tests/support.h
%C%_test_saving_LDFLAGS = $(tests_engine_train_test_parallel_LDFLAGS)
%C%_test_saving_LDADD = $(tests_engine_train_test_parallel_LDADD)
%C%_test_resume_CPPFLAGS = $(tests_engine_train_split_test_split_CPPFLAGS)
%C%_test_resume_SOURCES = \
	%D%/test_resume.c tests/recorder.c tests/recorder.h tests/support.c tests/support.h
%C%_test_resume_LDFLAGS = $(tests_engine_train_test_parallel_LDFLAGS)
%C%_test_resume_LDADD = $(tests_engine_train_test_parallel_LDADD)
endif
