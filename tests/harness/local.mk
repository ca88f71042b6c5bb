EXTRA_DIST += %D%/shell_session.py

if HAVE_CHECK
EXTRA_DIST += \
	%D%/fake_engine.py %D%/plain_signals.py %D%/terminal.py %D%/vt.py %D%/workbench_case.py
endif

EXTRA_DIST += %D%/parity_data.py %D%/program.py %D%/torch_nets.py
EXTRA_DIST += %D%/made_store.py
