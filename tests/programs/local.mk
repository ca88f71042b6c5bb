# The programs from the outside. Those with real data or PyTorch skip where there are none.

# Tests of texts, which run nothing that is built.
if !SANITIZERS
dist_check_SCRIPTS += %D%/folders.py %D%/words.py
endif
dist_check_SCRIPTS += \
	%D%/cli.py %D%/compare.py %D%/completion.py %D%/dial.py %D%/energy.py %D%/escapes.py %D%/eval.py %D%/gpus.py \
	%D%/homes.py %D%/history.py %D%/keys.sh %D%/layers.py %D%/limits.py %D%/manual.sh %D%/memory.py %D%/mixed.py %D%/no_gpu.py \
	%D%/normalization.py %D%/notify.py %D%/pipeline.py %D%/places.py %D%/predict.py %D%/profiling.py %D%/remote.py \
	%D%/repair.py %D%/resuming.py %D%/security.py %D%/streaming.py %D%/tensor.py %D%/thinned.py \
	%D%/updating.py %D%/validation.py
BUILD_TESTS += %D%/bootstrap.py
FAULT_TESTS += %D%/replaced.py
PARITY_TESTS += %D%/parity.py %D%/noise.py %D%/realdata.py %D%/torch_load.py

# Numbers that tests compare with, and what computes them.
EXTRA_DIST += \
	tests/fixtures/h200.json tests/fixtures/layers.json tests/fixtures/make_layers.py \
	tests/fixtures/make_noise.py tests/fixtures/noise.json tests/fixtures/make_parity.py tests/fixtures/make_rounding.py \
	tests/fixtures/make_schedules.py tests/fixtures/schedules.json \
	tests/fixtures/parity-cifar-cnn.json tests/fixtures/parity-cifar-cnn-decay.json \
	tests/fixtures/parity-resnet18.json tests/fixtures/parity-resnet18-decay.json \
	tests/fixtures/parity-sgd.json tests/fixtures/parity-nesterov.json \
	tests/fixtures/parity-adam.json tests/fixtures/parity-adamw.json \
	tests/fixtures/parity-rmsprop.json tests/fixtures/parity-clip.json \
	tests/fixtures/parity-no-decay.json tests/fixtures/parity-ema.json \
	tests/fixtures/parity-tf32.json

# The viewer under valgrind.
EXTRA_DIST += %D%/memcheck
memcheck: all
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
	  $(PYTHON_RUN) '$(srcdir)/%D%/memcheck'
