libserver_a_SOURCES += \
	%D%/telemetry.c %D%/telemetry.h \
	%D%/clock.c \
	%D%/cpu_sensors.c %D%/cpu_sensors.h \
	%D%/device_sensors.c %D%/device_sensors.h \
	%D%/parts.h \
	%D%/power.c \
	%D%/sensor_file.c %D%/sensor_file.h \
	%D%/temperature.c \
	%D%/throttle.c \
	%D%/topology.c
