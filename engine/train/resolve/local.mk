libtrain_a_SOURCES += \
	%D%/devices.c %D%/devices.h \
	%D%/inspect.c %D%/inspect.h \
	%D%/memory_limit.c %D%/memory_limit.h \
	%D%/optimizer.c %D%/optimizer.h \
	%D%/parallel.c %D%/parallel.h \
	%D%/preflight.c %D%/preflight.h \
	%D%/recipe.c %D%/recipe.h \
	%D%/resolve.c %D%/resolve.h
