if HAVE_CHECK
# The workbench without the rest of the program, which tests/terminal/screen.py runs on a terminal.
EXTRA_PROGRAMS += %D%/workbench

dist_check_SCRIPTS += %D%/budgets.py %D%/pictures.py %D%/remote.py %D%/screen.py %D%/sshd.py %D%/storm.py %D%/walk.py
%D%/pictures.log %D%/remote.log %D%/sshd.log %D%/storm.log %D%/walk.log: dpartui$(EXEEXT)
%D%/screen.log %D%/budgets.log: %D%/workbench$(EXEEXT)
CLEANFILES += %D%/workbench$(EXEEXT)
%C%_workbench_SOURCES = %D%/workbench.c
%C%_workbench_LDADD = libui.a libclient.a libspec.a libbase.a $(NCURSESW_LIBS) $(JANSSON_LIBS)
endif
