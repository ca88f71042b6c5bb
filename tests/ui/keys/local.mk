if HAVE_CHECK
check_PROGRAMS += %D%/test_keymap
%C%_test_keymap_SOURCES = %D%/test_keymap.c $(ui_replay)
%C%_test_keymap_LDADD = $(ui_test_libs)
endif
