if HAVE_CHECK
check_PROGRAMS += %D%/test_form
%C%_test_form_CPPFLAGS = $(ui_test_cppflags)
%C%_test_form_SOURCES = \
	%D%/test_form.c tests/ui/app/replay.c tests/ui/app/replay.h \
	tests/support.c tests/support.h
%C%_test_form_LDADD = $(ui_test_libs)
endif
