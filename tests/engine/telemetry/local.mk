if HAVE_CHECK
check_PROGRAMS += %D%/test_sensors
%C%_test_sensors_SOURCES = \
	%D%/test_sensors.c %D%/test_sensor_faults.c \
	tests/fakes/made_up_machine.c tests/fakes/made_up_machine.h \
	tests/support.c tests/support.h
%C%_test_sensors_LDADD = libserver.a libbase.a $(JANSSON_LIBS) $(PTHREAD_LIBS) $(CHECK_LIBS)
endif
