if HAVE_CHECK
check_PROGRAMS += %D%/test_devices

%C%_test_devices_SOURCES = %D%/test_devices.c
%C%_test_devices_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_devices_LDFLAGS = $(%C%_cpu_test_operations_LDFLAGS)
endif
