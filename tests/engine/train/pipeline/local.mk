if HAVE_CHECK
check_PROGRAMS += %D%/test_schedule
%C%_test_schedule_SOURCES = %D%/test_schedule.c
%C%_test_schedule_LDADD = libtrain.a libbase.a $(CHECK_LIBS)
endif
