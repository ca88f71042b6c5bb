dist_check_SCRIPTS += %D%/bench_figures.py %D%/scaling_prediction.py
EXTRA_DIST += \
	%D%/run %D%/accuracy.py %D%/bench.py %D%/history.py %D%/hosts.py %D%/measure.py %D%/ptymeter.py \
	%D%/report.py %D%/scaling.py %D%/scaling_model.py %D%/scaling_profile.py %D%/screens.py %D%/strategies.py \
	%D%/torch_step.py %D%/torch_train.py %D%/training.py

EXTRA_PROGRAMS += %D%/conv %D%/epoch_write %D%/order %D%/peak %D%/spent %D%/step
CLEANFILES += \
	%D%/conv$(EXEEXT) %D%/epoch_write$(EXEEXT) %D%/order$(EXEEXT) %D%/peak$(EXEEXT) \
	%D%/spent$(EXEEXT) %D%/step$(EXEEXT)

# Speed of single convolutions: make tests/bench/conv
%C%_conv_SOURCES = %D%/conv.c
%C%_conv_LDADD = $(CPU_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_conv_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)

# Seconds that storing epochs takes
%C%_epoch_write_SOURCES = %D%/epoch_write.c
%C%_epoch_write_LDADD = libstore.a libspec.a libbase.a $(SQLITE_LIBS) $(JANSSON_LIBS)

# Orders of rows, for the accuracy
%C%_order_SOURCES = %D%/order.c
%C%_order_LDADD = libtrain.a libbase.a

# What the machine can do at most
%C%_peak_SOURCES = %D%/peak.c
%C%_peak_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_peak_LDADD = libbase.a $(DNNL_LIBS)
%C%_peak_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)

# Processor time of a command
%C%_spent_SOURCES = %D%/spent.c

# Speed of training steps: make tests/bench/step
%C%_step_SOURCES = %D%/step.c
%C%_step_LDADD = $(CPU_LIBS) $(LIBCONFIG_LIBS) $(JANSSON_LIBS)
%C%_step_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
