if HAVE_CHECK
check_PROGRAMS += %D%/test_event_buffer %D%/test_curve
check_PROGRAMS += %D%/test_record
%C%_test_event_buffer_SOURCES = %D%/test_event_buffer.c
%C%_test_event_buffer_LDADD = libserver.a libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
%C%_test_curve_SOURCES = %D%/test_curve.c
%C%_test_curve_LDADD = $(%C%_test_event_buffer_LDADD)
%C%_test_record_SOURCES = %D%/test_record.c $(store_case)
%C%_test_record_LDADD = $(tests_engine_server_test_protocol_LDADD)
endif
