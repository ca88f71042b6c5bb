libserver_a_SOURCES += %D%/log.c %D%/log.h
