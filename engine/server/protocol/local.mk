libserver_a_SOURCES += \
	%D%/answer.c %D%/answer.h \
	%D%/ask.c %D%/ask.h \
	%D%/change.c %D%/change.h \
	%D%/methods.c %D%/methods.h
