# Calls that fail, killed engines, full disks, jumping clocks, hostile viewers
# A library that makes calls fail. Where it cannot be built it is empty and the tests skip.
check_DATA += %D%/shim.so
CLEANFILES += %D%/shim.so
EXTRA_DIST += %D%/shim.c %D%/shim.h %D%/shim_stacks.c %D%/engine.py %D%/trials.py
FAULT_TESTS += \
	%D%/allocations.py %D%/deleted.py %D%/disk.py %D%/gaps.py %D%/killed.py %D%/long.py %D%/once.py \
	%D%/viewers.py
%D%/shim.so: %D%/shim.c %D%/shim_stacks.c %D%/shim.h
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(AM_CPPFLAGS) $(WARN_CFLAGS) -std=gnu11 -O2 -g -fPIC -shared -o $@ \
		'$(srcdir)/%D%/shim.c' '$(srcdir)/%D%/shim_stacks.c' -ldl || : > $@
