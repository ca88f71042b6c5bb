if HAVE_CHECK
# Vectors that the processor may lack are emulated.
EMULATED_AMX = tests/engine/device/cpu/amx/emulated.c tests/engine/device/cpu/amx/emulated.h
EMULATED_AMX_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -Wno-psabi
check_PROGRAMS += %D%/test_amx
%C%_test_amx_CFLAGS = $(EMULATED_AMX_CFLAGS)
%C%_test_amx_SOURCES = %D%/test_amx.c tests/engine/device/cpu/conv/run_kernel.h $(EMULATED_AMX)
%C%_test_amx_LDADD = $(CPU_LIBS) $(CHECK_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_test_amx_LDFLAGS = $(tests_engine_device_cpu_test_operations_LDFLAGS)
endif
