if HAVE_CHECK
check_PROGRAMS += %D%/test_split %D%/test_rebalance

check_PROGRAMS += %D%/test_order %D%/test_reshare
%C%_test_split_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
%C%_test_split_SOURCES = %D%/test_split.c
%C%_test_split_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
%C%_test_rebalance_CPPFLAGS = $(%C%_test_split_CPPFLAGS)
%C%_test_rebalance_SOURCES = %D%/test_rebalance.c
%C%_test_rebalance_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
%C%_test_order_CPPFLAGS = $(%C%_test_split_CPPFLAGS)
%C%_test_order_SOURCES = %D%/test_order.c
%C%_test_order_LDADD = libtrain.a libboard.a libbase.a $(CHECK_LIBS)
%C%_test_reshare_CPPFLAGS = $(%C%_test_split_CPPFLAGS)
%C%_test_reshare_SOURCES = %D%/test_reshare.c $(run_fixture)
%C%_test_reshare_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
endif
