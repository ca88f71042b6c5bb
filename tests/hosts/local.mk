# Runs over several hosts, which are namespaces of this machine, or a Slurm cluster of such. Skipped
# without MPI, Slurm or the right to make namespaces.
HOSTS_TESTS += %D%/failures.py %D%/nccl.py %D%/slurm.py %D%/training.py
EXTRA_DIST += %D%/namespaces.sh %D%/slurm.sh

# nccl.py's dpartui-rank, on simulated GPUs.
if HAVE_MPI
if HAVE_SIMGPU
if HAVE_CHECK
if HAVE_NCCL
EXTRA_PROGRAMS += %D%/dpartui-rank
check_DATA += %D%/dpartui-rank$(EXEEXT)
CLEANFILES += %D%/dpartui-rank$(EXEEXT)
endif
%C%_dpartui_rank_CPPFLAGS = $(dpartui_rank_CPPFLAGS)
%C%_dpartui_rank_SOURCES = $(dpartui_rank_SOURCES) tests/simgpu/program.c
%C%_dpartui_rank_LDFLAGS = $(dpartui_rank_LDFLAGS)
%C%_dpartui_rank_LDADD = libhosts.a libserver.a libtrain.a libboard.a libdevice.a libcpu.a \
	$(SIMGPU_LIBS) libplan.a libnet.a libdata.a libspec.a libbase.a $(DNNL_LIBS) \
	$(LIBCONFIG_LIBS) $(JANSSON_LIBS) $(CRYPTO_LIBS) $(DATA_LIBS) $(PTHREAD_LIBS) $(MPI_LIBS)
endif
endif
endif
