libserver_a_SOURCES += \
	%D%/budget.c %D%/budget.h \
	%D%/connection.c %D%/connection.h \
	%D%/listener.c %D%/listener.h \
	%D%/places.c %D%/places.h
