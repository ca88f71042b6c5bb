if HAVE_CHECK
check_PROGRAMS += %D%/test_axis %D%/test_chart %D%/test_rest %D%/test_smooth
%C%_test_axis_SOURCES = %D%/test_axis.c
%C%_test_axis_LDADD = $(ui_test_libs)
%C%_test_chart_SOURCES = %D%/test_chart.c
%C%_test_chart_LDADD = $(ui_test_libs)
%C%_test_rest_SOURCES = %D%/test_rest.c
%C%_test_rest_LDADD = $(ui_test_libs)
%C%_test_smooth_SOURCES = %D%/test_smooth.c
%C%_test_smooth_LDADD = $(ui_test_libs)
endif
