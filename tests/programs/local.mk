
dist_check_SCRIPTS += %D%/bootstrap.py %D%/no_gpu.py
EXTRA_DIST += tests/fixtures/make_rounding.py tests/fixtures/parity-tf32.json
dist_check_SCRIPTS += %D%/gpus.py
dist_check_SCRIPTS += \
	%D%/cli.py %D%/keeping.py %D%/eval.py %D%/profiling.py %D%/homes.py %D%/places.py \
	%D%/repair.py %D%/replaced.py %D%/resuming.py %D%/streaming.py %D%/thinned.py \
	%D%/updating.py
dist_check_SCRIPTS += %D%/compare.py
%D%/compare.log: dpartui$(EXEEXT) dpartui-engine$(EXEEXT)
dist_check_SCRIPTS += %D%/completion.py

# The whole program against PyTorch's results, and on real data where there are any.
dist_check_SCRIPTS += %D%/security.py %D%/escapes.py
dist_check_SCRIPTS += %D%/parity.py %D%/torch_load.py %D%/realdata.py
EXTRA_DIST += \
	tests/fixtures/h200.json tests/fixtures/make_parity.py \
	tests/fixtures/parity-cifar-cnn.json tests/fixtures/parity-cifar-cnn-decay.json \
	tests/fixtures/parity-resnet18.json tests/fixtures/parity-resnet18-decay.json
dist_check_SCRIPTS += %D%/keys.sh
dist_check_SCRIPTS += %D%/manual.sh

# The viewer under valgrind.
EXTRA_DIST += %D%/memcheck
