if HAVE_CHECK
check_PROGRAMS += %D%/test_choose
%C%_test_choose_SOURCES = %D%/test_choose.c tests/support.c tests/support.h
%C%_test_choose_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_choose_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
endif
