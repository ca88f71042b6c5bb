libui_a_SOURCES += \
	%D%/profile.c %D%/profile.h \
	%D%/sections.c %D%/sections.h \
	%D%/summary.c %D%/summary.h \
	%D%/timeline.c %D%/timeline.h
