if HAVE_CHECK
check_PROGRAMS += %D%/test_bases
%C%_test_bases_SOURCES = %D%/test_bases.c $(ui_replay)
%C%_test_bases_LDADD = $(ui_test_libs)
endif
