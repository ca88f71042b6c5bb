/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TELEMETRY_PARTS_H
#define DPARTUI_ENGINE_TELEMETRY_PARTS_H

#include "engine/telemetry/cpu_sensors.h"
#include "engine/telemetry/sensor_file.h"

/*
 * The kinds of sensors, for the files of this folder. Each has a function that looks for them,
 * which may be called again when the machine may have changed, and one that reads them into the
 * figures and returns whether what can be seen changed.
 */

/* For engine/nvml as well: take over a figure in steps, unless it only trembles around the one that
 * is shown. */
bool show_figure(double *shown, double value, double step);

struct topology {
    int id[TELEMETRY_MAX_PACKAGES]; /* the system's numbers of the packages, ascending */
    int count;                      /* at least 1 */
};

/* Also writes where each CPU belongs into the figures. */
void topology_find(struct topology *topology, int root, struct cpu_figures *figures);
/* Index of the package with this number; -1: none. */
int topology_package(const struct topology *topology, int id);

#define MAX_PROBES 32

struct temperature_probe {
    struct sensor_file file;
    int package; /* index; -1: it speaks for all of them */
};

struct temperatures {
    struct temperature_probe probe[MAX_PROBES];
    int count;
    bool failing; /* none could be read */
};

void temperatures_find(struct temperatures *temperatures, int root,
                       const struct topology *topology);
bool temperatures_read(struct temperatures *temperatures, int root, int packages,
                       struct cpu_figures *figures);
void temperatures_close(struct temperatures *temperatures);

struct energy_zone {
    struct sensor_file energy;
    int package;
    int64_t range;  /* microjoules at which the counter begins again */
    int64_t before; /* microjoules; -1: not read yet */
    int64_t limit;  /* microwatts; -1: not known */
};

struct powers {
    struct energy_zone zone[MAX_PROBES];
    int count;
    double read_at;
    bool failing; /* none could be read */
    struct sensor_reason no_limit;
};

void powers_find(struct powers *powers, int root, const struct topology *topology);
bool powers_read(struct powers *powers, int root, int packages, double now,
                 struct cpu_figures *figures);
void powers_close(struct powers *powers);

struct clocks {
    bool cpufreq; /* else /proc/cpuinfo */
    int next;     /* of `cpus` */
    int wait;     /* updates to go until /proc/cpuinfo is read again */
};

void clocks_find(struct clocks *clocks, int root, const int *cpus, int count);
bool clocks_read(struct clocks *clocks, int root, const int *cpus, int count,
                 struct cpu_figures *figures);

#define MAX_QUOTAS 8

struct throttles {
    int64_t *heat_before; /* events of each of `cpus`; -1: not known */
    int next;
    int quota_fd[MAX_QUOTAS]; /* cpu.stat of the groups that have a quota */
    int64_t quota_before[MAX_QUOTAS];
    int quotas;
};

void throttles_find_quotas(struct throttles *throttles, int root);
bool throttles_read(struct throttles *throttles, int root, const int *cpus, int count,
                    struct cpu_figures *figures);
void throttles_close(struct throttles *throttles);

/* Files of single CPUs read in one update: what they cost shall not grow with the machine. */
#define CPUS_PER_UPDATE 64

#endif
