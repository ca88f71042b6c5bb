if HAVE_CHECK
check_PROGRAMS += %D%/test_split %D%/test_balance %D%/test_order %D%/test_stages %D%/test_micro
%C%_test_split_SOURCES = %D%/test_split.c
%C%_test_split_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
%C%_test_balance_SOURCES = %D%/test_balance.c
%C%_test_balance_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
%C%_test_order_SOURCES = %D%/test_order.c
%C%_test_order_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
%C%_test_stages_SOURCES = %D%/test_stages.c
%C%_test_stages_LDADD = libtrain.a libbase.a $(CHECK_LIBS)
%C%_test_micro_SOURCES = %D%/test_micro.c
%C%_test_micro_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
endif
