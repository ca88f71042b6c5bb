if HAVE_CHECK
check_PROGRAMS += %D%/test_schedule %D%/test_handover
%C%_test_schedule_SOURCES = %D%/test_schedule.c
%C%_test_schedule_LDADD = libtrain.a libbase.a $(CHECK_LIBS)
%C%_test_handover_SOURCES = %D%/test_handover.c
%C%_test_handover_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS) $(PTHREAD_LIBS)
endif
