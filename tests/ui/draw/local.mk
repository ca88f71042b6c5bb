if HAVE_CHECK
check_PROGRAMS += %D%/test_layout %D%/test_canvas %D%/test_theme
%C%_test_layout_SOURCES = %D%/test_layout.c
%C%_test_layout_LDADD = $(ui_test_libs)
%C%_test_canvas_SOURCES = %D%/test_canvas.c
%C%_test_canvas_LDADD = $(ui_test_libs)
%C%_test_theme_SOURCES = %D%/test_theme.c
%C%_test_theme_LDADD = $(ui_test_libs)
endif
