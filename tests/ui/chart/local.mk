if HAVE_CHECK
check_PROGRAMS += %D%/test_chart
%C%_test_chart_SOURCES = %D%/test_chart.c
%C%_test_chart_LDADD = $(ui_test_libs)
endif
