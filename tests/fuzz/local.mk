# Readers of what comes from outside, fed with rubbish
# Plain programs that replay their corpora in `make check`; fuzzers where configured with
# --enable-fuzzing, which `make fuzz` does in a separate folder.
fuzz_names = archive cifar device_list idx model npz picture protocol record safetensors settings spec store

if HAVE_CUDA_TOOLKIT
fuzz_names += conv_choices
fuzz_cuda = %D%/fuzz_conv_choices
endif

fuzz_programs = $(fuzz_cuda) %D%/fuzz_archive %D%/fuzz_cifar \
	%D%/fuzz_device_list %D%/fuzz_idx %D%/fuzz_model %D%/fuzz_npz %D%/fuzz_picture \
	%D%/fuzz_protocol %D%/fuzz_record %D%/fuzz_safetensors \
	%D%/fuzz_settings %D%/fuzz_spec %D%/fuzz_store
EXTRA_PROGRAMS += %D%/fuzz_conv_choices
check_PROGRAMS += $(fuzz_programs)
EXTRA_DIST += %D%/run %D%/make_corpus.py %D%/corpus

check_LIBRARIES += libreplay.a libscratch.a
libreplay_a_SOURCES = %D%/replay.c %D%/fuzz.h
libscratch_a_SOURCES = %D%/scratch.c %D%/fuzz.h

# Whose main() it is.
if FUZZING
fuzz_libs = libscratch.a
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
else
fuzz_libs = libreplay.a libscratch.a
fuzz_ldflags = $(AM_LDFLAGS)
endif

fuzz-programs: $(fuzz_programs)
# Each target for FUZZ_SECONDS, or those named in FUZZ_TARGETS; see docs/reliability.md. From a copy of
# the source, because this one may be configured for another compiler.
fuzz:
	$(MKDIR_P) fuzz-build
	$(MAKE) $(AM_MAKEFLAGS) distdir=fuzz-build/source top_distdir=fuzz-build/source distdir
	FUZZ_TARGETS='$(FUZZ_TARGETS)' FUZZ_SECONDS='$(FUZZ_SECONDS)' \
	  $(SHELL) '$(srcdir)/%D%/run' fuzz-build $(fuzz_names)

%C%_fuzz_archive_SOURCES = %D%/fuzz_archive.c
%C%_fuzz_archive_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_archive_LDADD = $(fuzz_libs) libfetch.a libdata.a libbase.a \
	$(CURL_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) $(PTHREAD_LIBS)
%C%_fuzz_cifar_SOURCES = %D%/fuzz_cifar.c
%C%_fuzz_cifar_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_cifar_LDADD = $(fuzz_libs) libdata.a libbase.a $(DATA_LIBS)
%C%_fuzz_conv_choices_SOURCES = \
	%D%/fuzz_conv_choices.c \
	engine/device/cuda/dnn/conv/choices.c engine/device/cuda/dnn/conv/choices.h
%C%_fuzz_conv_choices_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_conv_choices_LDADD = $(fuzz_libs) libbase.a
%C%_fuzz_device_list_SOURCES = %D%/fuzz_device_list.c
%C%_fuzz_device_list_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_device_list_LDADD = $(fuzz_libs) libspec.a libbase.a $(JANSSON_LIBS)
%C%_fuzz_idx_SOURCES = %D%/fuzz_idx.c
%C%_fuzz_idx_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_idx_LDADD = $(%C%_fuzz_cifar_LDADD)
%C%_fuzz_model_SOURCES = %D%/fuzz_model.c
%C%_fuzz_model_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_model_LDADD = $(fuzz_libs) libnet.a libspec.a libbase.a $(LIBCONFIG_LIBS) \
	$(JANSSON_LIBS)
%C%_fuzz_npz_SOURCES = %D%/fuzz_npz.c
%C%_fuzz_npz_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_npz_LDADD = $(%C%_fuzz_cifar_LDADD)
%C%_fuzz_picture_SOURCES = %D%/fuzz_picture.c
%C%_fuzz_picture_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_picture_LDADD = $(%C%_fuzz_cifar_LDADD)
%C%_fuzz_protocol_SOURCES = %D%/fuzz_protocol.c tests/fakes/fake_run.c
%C%_fuzz_protocol_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_protocol_LDADD = $(fuzz_libs) libserver.a libstore.a libhosts.a libtrain.a libdevice.a libnet.a libdata.a \
	libspec.a libbase.a $(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(DATA_LIBS) $(SQLITE_LIBS) $(CRYPTO_LIBS) \
	$(PTHREAD_LIBS)
%C%_fuzz_record_SOURCES = %D%/fuzz_record.c
%C%_fuzz_record_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_record_LDADD = $(fuzz_libs) libserver.a libhosts.a libtrain.a libspec.a libbase.a \
	$(JANSSON_LIBS) $(PTHREAD_LIBS)
%C%_fuzz_safetensors_SOURCES = %D%/fuzz_safetensors.c
%C%_fuzz_safetensors_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_safetensors_LDADD = $(fuzz_libs) libtrain.a libnet.a libspec.a libbase.a \
	$(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(ZLIB_LIBS)
%C%_fuzz_settings_SOURCES = %D%/fuzz_settings.c
%C%_fuzz_settings_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_settings_LDADD = $(fuzz_libs) libsettings.a libui.a libspec.a libbase.a \
	$(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_fuzz_spec_SOURCES = %D%/fuzz_spec.c
%C%_fuzz_spec_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_spec_LDADD = $(%C%_fuzz_device_list_LDADD)
%C%_fuzz_store_SOURCES = %D%/fuzz_store.c tests/src/store/store_show.c tests/src/store/store_show.h
%C%_fuzz_store_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_store_LDADD = $(fuzz_libs) libstore.a libspec.a libbase.a $(SQLITE_LIBS) \
	$(JANSSON_LIBS)
