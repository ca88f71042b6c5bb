libcommand_a_SOURCES += \
	%D%/argument.c %D%/argument.h \
	%D%/command.c %D%/command.h \
	%D%/run_spec.c %D%/run_spec.h \
	%D%/words.c %D%/words.h
