if HAVE_CHECK
check_PROGRAMS += %D%/test_checkpoint %D%/test_damage
%C%_test_checkpoint_SOURCES = %D%/test_checkpoint.c tests/support.c tests/support.h
%C%_test_checkpoint_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_damage_SOURCES = %D%/test_damage.c tests/support.c tests/support.h
%C%_test_damage_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
endif
