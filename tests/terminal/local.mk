if HAVE_CHECK
# The workbench without the rest of the program, which tests/terminal/screen.py runs on a terminal.
EXTRA_PROGRAMS += %D%/workbench
check_DATA += %D%/workbench$(EXEEXT)

dist_check_SCRIPTS += %D%/budgets.py %D%/pictures.py %D%/remote.py %D%/screen.py %D%/sshd.py %D%/storm.py %D%/walk.py
CLEANFILES += %D%/workbench$(EXEEXT)
%C%_workbench_SOURCES = %D%/workbench.c
%C%_workbench_LDADD = libui.a libclient.a libspec.a libbase.a $(NCURSESW_LIBS) $(JANSSON_LIBS)
endif
