/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "spec/spec.h"

/*
 * The same training on several numbers of devices, one run after the other: which runs these are.
 * Pure; the caller submits them.
 *
 * - Strong scaling: the same batch and learning rate on every number of devices. The same work is
 *   divided further and further, so each device's shard shrinks.
 * - Weak scaling: batch and learning rate in proportion to the devices. Each device keeps its
 *   shard, as "Dive into Deep Learning" does when it trains with 256 and 0.1 on one GPU and with
 *   512 and 0.2 on two.
 */
enum scaling { SCALING_STRONG, SCALING_WEAK };

enum { SWEEP_RUNS = 8 };

struct sweep {
    struct spec spec; /* on all devices; for weak scaling batch and lr are those of ONE device */
    enum scaling scaling;
    int count;               /* runs */
    int devices[SWEEP_RUNS]; /* of each, rising */
};

/*
 * Powers of two up to `most` (1..SPEC_MAX_DEVICES), and `most` itself: 1, 2, 4, 6. Returns how
 * many; 0 when `most` is out of bounds.
 */
int sweep_counts(int most, int counts[SWEEP_RUNS]);

/* How many of the listed devices are CPU devices. */
int sweep_cpus(const struct device_list *devices);
/* The most of them that share a host's cores. */
int sweep_host_cpus(const struct device_list *devices);
/* On how many hosts they are; 0: they name none. */
int sweep_hosts(const struct device_list *devices);

/*
 * Prepare a spec for runs on up to `cpus` CPU devices. These divide the machine's cores, and a run
 * on fewer of them would give each more; so that only the number of devices differs, each gets
 * `cores` / `cpus` threads, at least one, in every run, unless the spec sets a number.
 * Files to save and log into are dropped: the runs would write over each other's.
 */
bool sweep_prepare(struct spec *spec, int cpus, int cores, struct error *err);

/*
 * The spec of a run on these devices, validated, from a prepared one; release with spec_free.
 * ERROR_USAGE when the run cannot be: a batch out of bounds, a split that does not come out even.
 */
bool sweep_run(const struct spec *prepared, const struct device_list *devices, enum scaling scaling,
               struct spec *spec, struct error *err);

/* A sweep over the first 1, 2, 4... of `devices`. Release with sweep_free, also a zeroed one. */
bool sweep_begin(struct sweep *sweep, const struct spec *spec, const struct device_list *devices,
                 enum scaling scaling, int cores, struct error *err);
void sweep_free(struct sweep *sweep);

/* As sweep_run, of run `which`. */
bool sweep_spec(const struct sweep *sweep, int which, struct spec *spec, struct error *err);

/* "sweep: strong scaling, batch 256 on 1-2-4 devices"; every run of a sweep has this note. */
#define SWEEP_NOTE_PREFIX "sweep: "
void sweep_note(const struct sweep *sweep, char *buffer, size_t size);

/*
 * Seconds of an epoch on `devices`, from those measured on other numbers (rising): the power law
 * through the first and the last of them. With a single one the scaling is taken to be ideal, and
 * *at_least says that it may take longer. NAN when none was measured.
 */
double sweep_estimate(const int *measured, const double *seconds, int count, int devices,
                      bool *at_least);
