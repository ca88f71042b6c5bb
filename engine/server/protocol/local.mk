libserver_a_SOURCES += %D%/methods.c %D%/methods.h %D%/ask.c %D%/change.c
