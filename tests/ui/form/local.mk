if HAVE_CHECK
check_PROGRAMS += %D%/test_form
%C%_test_form_SOURCES = %D%/test_form.c $(ui_replay)
%C%_test_form_LDADD = $(ui_test_libs)
endif
