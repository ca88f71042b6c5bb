if HAVE_CHECK
check_PROGRAMS += %D%/test_schedule %D%/test_handover %D%/test_layout
%C%_test_schedule_SOURCES = %D%/test_schedule.c
%C%_test_schedule_LDADD = libtrain.a libbase.a $(CHECK_LIBS)
%C%_test_handover_SOURCES = %D%/test_handover.c
%C%_test_handover_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS) $(PTHREAD_LIBS)
%C%_test_layout_SOURCES = %D%/test_layout.c
%C%_test_layout_LDADD = libtrain.a libnet.a libspec.a libbase.a $(CHECK_LIBS) $(LIBCONFIG_LIBS) \
	$(JANSSON_LIBS) $(ZLIB_LIBS)
endif
