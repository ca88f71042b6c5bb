if HAVE_CHECK
check_PROGRAMS += %D%/test_nvml
%C%_test_nvml_SOURCES = \
	%D%/test_nvml.c %D%/test_nvml_thread.c %D%/test_processes.c tests/fakes/fake_nvml.h \
	%D%/nvml_fixture.c %D%/nvml_fixture.h
%C%_test_nvml_LDADD = libserver.a libbase.a $(JANSSON_LIBS) $(PTHREAD_LIBS) $(CHECK_LIBS)
endif
