/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/hosts.h"
#include "tests/recorder.h"

/*
 * Runs over hosts that are threads of the test (tests/fakes/host_threads.h). The recorder is that
 * of the first; the others must report nothing, and find no file but those that a run reads
 * everywhere: data and model.
 */

/* Of a recorder whose spec may name hosts; in others' it trains as if there was none. */
recorder_train train_over_hosts;

/* The hosts of the newest run that had some, and what became of it on each. */
extern struct hosts_seen {
    int count;
    struct error err[SPEC_MAX_HOSTS]; /* ERROR_NONE: it came to its end */
    long sums;                        /* of gradients, over all hosts */
} hosts_seen;

/* Called for each host's spec before the run begins there; NULL: nothing is changed. */
extern void (*hosts_change)(int host, struct spec *spec);
