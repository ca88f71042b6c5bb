libui_a_SOURCES += \
	%D%/hosts.c %D%/hosts.h \
	%D%/link.c %D%/link.h \
	%D%/playback.c %D%/playback.h \
	%D%/reach.c %D%/reach.h \
	%D%/recording.c %D%/recording.h \
	%D%/snapshot.c %D%/snapshot.h \
	%D%/term.c %D%/term.h \
	%D%/term_input.c %D%/term_input.h \
	%D%/workbench.c %D%/workbench.h
