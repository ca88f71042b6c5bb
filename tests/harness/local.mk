EXTRA_DIST += \
	%D%/divided_case.py %D%/fake_engine.py %D%/fake_ssh.py %D%/hosts_case.py %D%/layer_cases.py \
	%D%/made_store.py %D%/parity_data.py %D%/plain_signals.py %D%/private_sshd.py \
	%D%/program.py %D%/shell_session.py %D%/terminal.py %D%/torch_nets.py %D%/vt.py \
	%D%/workbench_case.py
