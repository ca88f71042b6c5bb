libcommand_a_SOURCES += \
	%D%/command.c %D%/command.h %D%/options.h \
	%D%/run_number.c %D%/run_number.h \
	%D%/hosts.c %D%/hosts.h \
	%D%/run_spec.c %D%/run_spec.h \
	%D%/saved.c %D%/saved.h
