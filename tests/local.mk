EXTRA_DIST += %D%/tsan.supp
# Each test runs in a private home, see tests/environment. Scripts exit with 77 to skip.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	test_home='$(abs_top_builddir)/$(@:.log=).home'; \
	SIMGPU_MISSING='$(SIMGPU_MISSING)'; export SIMGPU_MISSING; \
	. '$(abs_top_srcdir)/%D%/environment';
%D%/%.o: CFLAGS := $(TEST_CFLAGS)
# But what measures, and what computes much.
%D%/bench/%.o %D%/engine/device/cpu/conv/%.o: CFLAGS := $(CFLAGS)
if SANITIZERS
# With sanitizers a fork takes longer than most tests, and the first error they find ends the program
# anyway. In these folders no test leaves a thread behind.
%D%/engine/device/cpu/%.o %D%/engine/net/%.o %D%/src/%.o %D%/ui/%.o: CPPFLAGS += -DONE_PROCESS
endif
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = $(PYTHON_RUN)
AM_DISTCHECK_CONFIGURE_FLAGS = --enable-werror
EXTRA_DIST += %D%/environment %D%/lsan.supp %D%/suites.h %D%/unchecked.h

# The list of keys in the manual comes from the program: make update-keys.
noinst_PROGRAMS = man/keys
man_keys_SOURCES = man/keys.c
man_keys_LDADD = libui.a libbase.a
