if HAVE_CHECK
check_PROGRAMS += %D%/test_run %D%/test_results %D%/test_control %D%/test_command \
	%D%/test_live_change %D%/test_load_balance %D%/test_parallel %D%/test_unequal \
	%D%/test_checkpoints %D%/test_resume %D%/test_schedule %D%/test_validation %D%/test_pipeline %D%/test_tensor \
	%D%/test_hosts %D%/test_hosts_control %D%/test_hosts_resume %D%/test_noise %D%/test_energy %D%/test_bf16
run_fixture = %D%/fixture.c %D%/fixture.h tests/recorder.c tests/recorder.h \
	tests/fakes/fake_backend.c tests/fakes/fake_backend.h
parallel_fixture = %D%/parallel_fixture.c %D%/parallel_fixture.h \
	tests/recorder.c tests/recorder.h tests/support.c tests/support.h
%C%_test_run_SOURCES = %D%/test_run.c $(run_fixture)
%C%_test_run_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_energy_SOURCES = %D%/test_energy.c $(run_fixture)
%C%_test_energy_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_results_SOURCES = %D%/test_results.c $(run_fixture)
%C%_test_results_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_control_SOURCES = %D%/test_control.c $(run_fixture)
%C%_test_control_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_command_SOURCES = %D%/test_command.c $(run_fixture)
%C%_test_command_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_live_change_SOURCES = %D%/test_live_change.c $(run_fixture)
%C%_test_live_change_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_schedule_SOURCES = %D%/test_schedule.c $(run_fixture)
%C%_test_schedule_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
%C%_test_load_balance_SOURCES = %D%/test_load_balance.c $(run_fixture)
%C%_test_load_balance_LDADD = libtrain.a libboard.a $(TRAIN_LIBS)
# The following train on real CPU devices.
%C%_test_parallel_SOURCES = %D%/test_parallel.c $(parallel_fixture)
%C%_test_parallel_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
%C%_test_parallel_LDADD = libtrain.a libboard.a libdevice.a libcpu.a $(CUDA_BACKEND_LIBS) libplan.a \
	$(TRAIN_LIBS) $(DNNL_LIBS)
%C%_test_bf16_SOURCES = %D%/test_bf16.c tests/trajectory.c tests/trajectory.h $(parallel_fixture)
%C%_test_bf16_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_bf16_LDADD = $(%C%_test_parallel_LDADD)
%C%_test_unequal_SOURCES = %D%/test_unequal.c \
	tests/fakes/posing_backend.c tests/fakes/posing_backend.h \
	tests/fakes/posing_collective.c $(parallel_fixture)
%C%_test_unequal_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_unequal_LDADD = libtrain.a libboard.a libcpu.a libplan.a $(TRAIN_LIBS) $(DNNL_LIBS)
divided_fixture = %D%/divided_fixture.c %D%/divided_fixture.h \
	tests/fakes/posing_backend.c tests/fakes/posing_backend.h \
	tests/fakes/posing_collective.c $(parallel_fixture)
%C%_test_pipeline_SOURCES = %D%/test_pipeline.c $(divided_fixture)
%C%_test_pipeline_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_pipeline_LDADD = $(%C%_test_unequal_LDADD)
%C%_test_tensor_SOURCES = %D%/test_tensor.c $(divided_fixture)
%C%_test_tensor_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_tensor_LDADD = $(%C%_test_unequal_LDADD)
%C%_test_checkpoints_SOURCES = %D%/test_checkpoints.c \
	tests/recorder.c tests/recorder.h tests/support.c tests/support.h
%C%_test_checkpoints_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_checkpoints_LDADD = $(%C%_test_parallel_LDADD)
%C%_test_resume_SOURCES = %D%/test_resume.c \
	tests/recorder.c tests/recorder.h tests/support.c tests/support.h
%C%_test_resume_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_resume_LDADD = $(%C%_test_parallel_LDADD)
%C%_test_validation_SOURCES = %D%/test_validation.c \
	tests/recorder.c tests/recorder.h tests/support.c tests/support.h
%C%_test_validation_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_validation_LDADD = $(%C%_test_parallel_LDADD)
hosts_fixture = %D%/hosts_fixture.c %D%/hosts_fixture.h \
	tests/fakes/host_threads.c tests/fakes/host_threads.h \
	tests/fakes/posing_backend.c tests/fakes/posing_backend.h \
	tests/fakes/posing_collective.c $(parallel_fixture)
%C%_test_hosts_SOURCES = %D%/test_hosts.c $(hosts_fixture)
%C%_test_hosts_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_hosts_LDADD = $(%C%_test_unequal_LDADD)
%C%_test_hosts_control_SOURCES = %D%/test_hosts_control.c $(hosts_fixture)
%C%_test_hosts_control_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_hosts_control_LDADD = $(%C%_test_unequal_LDADD)
%C%_test_hosts_resume_SOURCES = %D%/test_hosts_resume.c $(hosts_fixture)
%C%_test_hosts_resume_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_hosts_resume_LDADD = $(%C%_test_unequal_LDADD)
%C%_test_noise_SOURCES = %D%/test_noise.c $(hosts_fixture)
%C%_test_noise_LDFLAGS = $(%C%_test_parallel_LDFLAGS)
%C%_test_noise_LDADD = $(%C%_test_unequal_LDADD)
endif
