if HAVE_CHECK
check_PROGRAMS += %D%/test_meter
%C%_test_meter_SOURCES = \
	%D%/test_meter.c tests/fakes/made_up_machine.c tests/fakes/made_up_machine.h \
	tests/engine/nvml/nvml_fixture.c tests/engine/nvml/nvml_fixture.h tests/support.c
%C%_test_meter_LDADD = libserver.a libbase.a $(JANSSON_LIBS) $(PTHREAD_LIBS) $(CHECK_LIBS)
endif
