if HAVE_CHECK
# The independent reference for device backends.
check_LIBRARIES += libtestnet.a
libtestnet_a_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
libtestnet_a_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libtestnet_a_SOURCES = \
	%D%/refnet.c %D%/refnet.h \
	%D%/refnet_conv.c %D%/refnet_conv.h \
	%D%/refnet_ops.c %D%/refnet_ops.h
check_PROGRAMS += %D%/test_refnet

TRIAL = %D%/trial.c %D%/trial_cpu.c %D%/trial.h %D%/conformance.h %D%/stage_pipeline.h \
	tests/support.c tests/support.h
endif

EXTRA_DIST += %D%/conformance_rough.c

if HAVE_CHECK
%C%_test_refnet_SOURCES = %D%/test_refnet.c tests/support.c tests/support.h
%C%_test_refnet_LDADD = libtestnet.a $(tests_engine_net_test_net_LDADD)
endif
