/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_EXPERIMENT_SWEEP_H
#define DPARTUI_EXPERIMENT_SWEEP_H

#include "experiment/compare.h"
#include "spec/spec.h"

/*
 * The same training on 1, 2, 4... devices, one run after the other, so that compare.h can set them
 * side by side. Pure: it makes the specs; who uses it submits them.
 */
enum { SWEEP_RUNS = 8 };

struct sweep {
    struct spec spec; /* on all devices; in a growing sweep batch and lr are those of ONE device */
    enum compare_kind kind;
    int count;               /* runs */
    int devices[SWEEP_RUNS]; /* of each, rising */
};

/*
 * Powers of two up to `most` (1..SPEC_MAX_DEVICES), and `most` itself: 1, 2, 4, 6. Returns how
 * many; 0 when `most` is out of bounds.
 */
int sweep_counts(int most, int counts[SWEEP_RUNS]);

/*
 * Prepare a sweep from the spec of one run over the first so many of `devices` (DEVICES_LISTED).
 * CPU devices divide the machine's cores, and a run on fewer of them would give each more; so that
 * only the number of devices differs, each gets `cores` / all CPU devices threads, at least one, in
 * every run, unless the spec has a number of its own. Files to save and log into are dropped: the
 * runs would write over each other's. Release with sweep_free, also a zeroed one.
 */
bool sweep_begin(struct sweep *sweep, const struct spec *spec, const struct device_list *devices,
                 enum compare_kind kind, int cores, struct error *err);
void sweep_free(struct sweep *sweep);

/*
 * The spec of run `which`, validated; release with spec_free. ERROR_USAGE when the run cannot be: a
 * batch out of bounds, a split that does not come out even.
 */
bool sweep_spec(const struct sweep *sweep, int which, struct spec *spec, struct error *err);

/* "sweep: fixed batch 256 on 1-2-4 devices"; every run of a sweep bears it. */
#define SWEEP_NOTE_PREFIX "sweep: "
void sweep_note(const struct sweep *sweep, char *buffer, size_t size);

/*
 * Seconds of an epoch on `devices`, from those measured on other numbers (rising): the power law
 * through the first and the last of them. With a single one the scaling is taken to be ideal, and
 * *at_least says that the figure is the least it can be. NAN when none was measured.
 */
double sweep_estimate(const int *measured, const double *seconds, int count, int devices,
                      bool *at_least);

#endif
