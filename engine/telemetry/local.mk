libserver_a_SOURCES += \
	%D%/clock.c %D%/clock.h \
	%D%/cpu_sensors.c %D%/cpu_sensors.h \
	%D%/device_sensors.c %D%/device_sensors.h \
	%D%/power.c %D%/power.h \
	%D%/sensor_file.c %D%/sensor_file.h \
	%D%/telemetry.c %D%/telemetry.h \
	%D%/temperature.c %D%/temperature.h \
	%D%/throttle.c %D%/throttle.h \
	%D%/topology.c %D%/topology.h
