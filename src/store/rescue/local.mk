libstore_a_SOURCES += \
	%D%/check.c %D%/check.h \
	%D%/copy.c %D%/copy.h \
	%D%/inspect.c %D%/inspect.h \
	%D%/recover.c %D%/recover.h \
	%D%/repair.c %D%/repair.h \
	%D%/reserve.c %D%/reserve.h \
	%D%/salvage.c %D%/salvage.h
EXTRA_DIST += %D%/dbpage.c
