# Of the command line, in shells
libcommand_a_SOURCES += \
	%D%/argument.c %D%/argument.h \
	%D%/bash.c %D%/bash.h \
	%D%/fish.c %D%/fish.h \
	%D%/quote.c %D%/quote.h \
	%D%/words.c %D%/words.h \
	%D%/zsh.c %D%/zsh.h
# The scripts are in the archive, so that nothing has to run to install them.
completions = etc/completions
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = $(completions)/bash/dpartui
dist_zshcompletion_DATA = $(completions)/zsh/_dpartui
dist_fishcompletion_DATA = $(completions)/fish/dpartui.fish

update-completions: dpartui$(EXEEXT)
	./dpartui$(EXEEXT) completion bash >'$(srcdir)/$(completions)/bash/dpartui'
	./dpartui$(EXEEXT) completion zsh >'$(srcdir)/$(completions)/zsh/_dpartui'
	./dpartui$(EXEEXT) completion fish >'$(srcdir)/$(completions)/fish/dpartui.fish'

.PHONY: update-completions
