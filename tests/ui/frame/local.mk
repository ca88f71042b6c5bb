if HAVE_CHECK
check_PROGRAMS += %D%/test_mouse
%C%_test_mouse_SOURCES = %D%/test_mouse.c $(ui_replay)
%C%_test_mouse_LDADD = $(ui_test_libs)
endif
