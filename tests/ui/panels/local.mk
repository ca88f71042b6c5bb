if HAVE_CHECK
check_PROGRAMS += %D%/test_outlook
%C%_test_outlook_SOURCES = %D%/test_outlook.c $(ui_replay)
%C%_test_outlook_LDADD = $(ui_test_libs)
endif
