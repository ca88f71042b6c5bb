if HAVE_CHECK
check_PROGRAMS += %D%/test_device %D%/test_log
check_PROGRAMS += %D%/test_confusion %D%/test_run %D%/test_runs %D%/test_marked %D%/test_messages
%C%_test_confusion_SOURCES = %D%/test_confusion.c $(runs_fixture)
%C%_test_confusion_LDADD = $(ui_test_libs)
%C%_test_device_SOURCES = %D%/test_device.c $(ui_replay)
%C%_test_device_LDADD = $(ui_test_libs)
%C%_test_log_SOURCES = %D%/test_log.c $(ui_replay)
%C%_test_log_LDADD = $(ui_test_libs)
%C%_test_run_SOURCES = %D%/test_run.c $(runs_fixture)
%C%_test_run_LDADD = $(ui_test_libs)
%C%_test_runs_SOURCES = %D%/test_runs.c $(runs_fixture)
%C%_test_runs_LDADD = $(ui_test_libs)
%C%_test_marked_SOURCES = %D%/test_marked.c $(runs_fixture)
%C%_test_marked_LDADD = $(ui_test_libs)
%C%_test_messages_SOURCES = %D%/test_messages.c $(runs_fixture)
%C%_test_messages_LDADD = $(ui_test_libs)
endif
