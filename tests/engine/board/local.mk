if HAVE_CHECK
check_PROGRAMS += %D%/test_board
%C%_test_board_SOURCES = %D%/test_board.c tests/support.c tests/support.h
%C%_test_board_LDADD = libboard.a libbase.a $(JANSSON_LIBS) $(CHECK_LIBS)
endif
