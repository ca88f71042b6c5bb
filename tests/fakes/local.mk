# Libraries for tests of how libraries are opened, and a driver that is too old.
check_DATA += \
	%D%/fake_driver.so %D%/fake_library.so %D%/fake_library_old.so %D%/fake_library_next.so \
	%D%/fake_library_poor.so
CLEANFILES += \
	%D%/fake_driver.so %D%/fake_library.so %D%/fake_library_old.so %D%/fake_library_next.so \
	%D%/fake_library_poor.so
EXTRA_DIST += %D%/fake_driver.c %D%/fake_library.c
MAKE_FAKE = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared -o $@
%D%/fake_driver.so: %D%/fake_driver.c
	$(MAKE_FAKE) -Wl,-soname,libcuda.so.1 '$(srcdir)/%D%/fake_driver.c'
%D%/fake_library.so: %D%/fake_library.c
	$(MAKE_FAKE) -DFAKE_VERSION=20501 '$(srcdir)/%D%/fake_library.c'
%D%/fake_library_old.so: %D%/fake_library.c
	$(MAKE_FAKE) -DFAKE_VERSION=20409 '$(srcdir)/%D%/fake_library.c'
%D%/fake_library_next.so: %D%/fake_library.c
	$(MAKE_FAKE) -DFAKE_VERSION=30000 '$(srcdir)/%D%/fake_library.c'
%D%/fake_library_poor.so: %D%/fake_library.c
	$(MAKE_FAKE) -DFAKE_VERSION=20501 -DFAKE_LACKS '$(srcdir)/%D%/fake_library.c'

# A library that answers as NVIDIA's does, for machines without a GPU. Where it cannot be built the
# file is empty and tests skip.
EXTRA_DIST += %D%/fake_nvml.c
check_DATA += %D%/fake_nvml.so %D%/fake_nvml_old.so
CLEANFILES += %D%/fake_nvml.so %D%/fake_nvml_old.so
FAKE_NVML = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
	-fPIC -shared
%D%/fake_nvml.so: %D%/fake_nvml.c %D%/fake_nvml.h engine/nvml/api.h
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(FAKE_NVML) -o $@ $(srcdir)/%D%/fake_nvml.c || : > $@
%D%/fake_nvml_old.so: %D%/fake_nvml.c %D%/fake_nvml.h engine/nvml/api.h
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(FAKE_NVML) -DFAKE_NVML_OLD -o $@ $(srcdir)/%D%/fake_nvml.c || : > $@
