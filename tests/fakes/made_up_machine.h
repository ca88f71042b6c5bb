/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <stdbool.h>

#include "engine/telemetry/cpu_sensors.h"

/*
 * A made-up machine: a folder with /sys and /proc as a test writes them, and what the sensors
 * report of it. All of it fails the running check when it cannot be done.
 */

#define CPU    "sys/devices/system/cpu/cpu"
#define HWMON  "sys/class/hwmon/hwmon"
#define ZONE   "sys/class/thermal/thermal_zone"
#define RAPL   "sys/class/powercap/intel-rapl:"
#define CGROUP "sys/fs/cgroup"

struct made_up_machine {
    char *folder;
    int root; /* a descriptor of it */
    struct cpu_sensors *sensors;
    struct cpu_figures figures;
    double now;
    int cpus[256]; /* those that devices may use */
    int count;
};

extern struct made_up_machine machine;

/* Fixtures: an empty machine. */
void machine_begin(void);
void machine_end(void);

/* Write a file; paths are relative to the folder. */
void set(const char *path, const char *text);
/* Remove one as sysfs does: who has it open gets nothing more out of it. */
void vanish(const char *path);
/* CPUs 0 to count-1, packages one after the other. */
void add_cpus(int count, int packages);
/* Two packages of two CPUs that tell all there is, and sensors of other things. */
void add_intel(void);

/* Look for sensors and read them; read them again two seconds later: did anything change? */
void look(void);
bool look_again(void);

/* What a device of `count` of the machine's CPUs has. */
struct device_sensors device(int first, int count);
/* The figure of a device of all of them. */
double figure(enum sensor sensor);
/* It is not known, and the reason holds this text. */
void assert_missing(enum sensor sensor, const char *reason);

/* test_sensor_faults.c */
Suite *sensor_faults_suite(void);
