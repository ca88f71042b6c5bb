libbase_a_SOURCES += %D%/event_text.c %D%/event_text.h %D%/profile_event.c %D%/profile_event.h
libcommand_a_SOURCES += %D%/device_names.c %D%/device_names.h
