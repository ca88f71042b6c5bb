libfetch_a_SOURCES += \
	%D%/address.c %D%/address.h \
	%D%/archive.c %D%/archive.h \
	%D%/digest.c %D%/digest.h \
	%D%/fetch.c %D%/fetch.h \
	%D%/reporter.c %D%/reporter.h \
	%D%/set.c %D%/set.h \
	%D%/transfer.c %D%/transfer.h
