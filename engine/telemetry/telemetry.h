/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/telemetry/cpu_sensors.h"

/*
 * What the machine is doing, sampled once a second on its own thread from /proc and, for
 * what its sensors tell, /sys. Readers take the newest sample and never wait for the system.
 */

struct telemetry_sample {
    uint64_t version;                /* grows whenever a figure changed visibly */
    double load[TELEMETRY_MAX_CPUS]; /* of each logical CPU over the last second, 0 to 1; NAN:
                                        not known */
    uint64_t memory_total;           /* bytes of the machine; 0: not known */
    uint64_t memory_used;            /* bytes that are not available to programs */
    uint64_t memory_engine;          /* bytes of this process that are resident */
    struct cpu_figures sensors;
};

struct telemetry;

/*
 * `root`: the folder that holds /proc and /sys, "/" but in tests. `cpus`: those that devices of
 * ours may use.
 */
bool telemetry_start(struct telemetry **out, const char *root, const int *cpus, int count,
                     struct error *err);
/* Does not wait long for a thread that hangs in the system: it then ends on its own. */
void telemetry_stop(struct telemetry *telemetry);

/*
 * Copy the newest sample (20 KiB). Before the first, and when the system has not answered for
 * seconds, every figure is unknown.
 */
void telemetry_read(struct telemetry *telemetry, struct telemetry_sample *sample);
uint64_t telemetry_version(struct telemetry *telemetry);

/* Mean load of `count` logical CPUs; NAN when none of them is known. */
double telemetry_load(const struct telemetry_sample *sample, const int *cpus, int count);

/*
 * The parts that read /proc, on their own for tests: ticks of each logical CPU, busy and in all,
 * from the text of /proc/stat (CPUs that are not in it keep 0), and one "Name: N kB" line of
 * /proc/meminfo in bytes (0: not there).
 */
struct cpu_ticks {
    uint64_t busy, total;
};
void telemetry_parse_stat(const char *text, struct cpu_ticks *ticks, int capacity);
uint64_t telemetry_parse_memory(const char *text, const char *name);
