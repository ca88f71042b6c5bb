libtrain_a_SOURCES += \
	%D%/figures.c %D%/figures.h \
	%D%/json.c %D%/json.h \
	%D%/profile.c %D%/profile.h \
	%D%/times.h
