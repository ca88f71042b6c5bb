if HAVE_CHECK
# With a scripted run and made-up devices in place of the real ones.
check_PROGRAMS += %D%/test_protocol
%C%_test_protocol_SOURCES = \
	%D%/test_protocol.c %D%/test_hostile.c %D%/socket/test_flood.c %D%/test_changes.c \
	%D%/history/test_stored_runs.c %D%/socket/test_places.c tests/fakes/fake_run.c \
	%D%/test_sensor_states.c %D%/test_free_runs.c \
	tests/engine/nvml/nvml_fixture.c tests/engine/nvml/nvml_fixture.h \
	tests/fakes/fake_nvml.h tests/fakes/engine_thread.c tests/fakes/engine_thread.h \
	tests/support.c tests/support.h
%C%_test_protocol_LDADD = libserver.a libstore.a libhosts.a libtrain.a libdevice.a libboard.a libnet.a \
	libfetch.a libdata.a libclient.a libspec.a libbase.a $(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(CURL_LIBS) \
	$(CRYPTO_LIBS) $(DATA_LIBS) $(SQLITE_LIBS) $(PTHREAD_LIBS) $(CHECK_LIBS)
endif
