libfetch_a_SOURCES += \
	%D%/address.c \
	%D%/archive.c \
	%D%/digest.c \
	%D%/fetch.c %D%/fetch.h \
	%D%/set.h \
	%D%/reporter.c \
	%D%/transfer.c
