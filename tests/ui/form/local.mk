if HAVE_CHECK
check_PROGRAMS += %D%/test_form
%C%_test_form_SOURCES = \
	%D%/test_form.c %D%/test_suggestion.c tests/ui/control/test_form_check.c \
	%D%/form_fixture.c %D%/form_fixture.h $(ui_replay)
%C%_test_form_LDADD = $(ui_test_libs)
endif
