/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "spec/spec.h"

/*
 * What of a run each of its devices gets. Training goes by these, and so do the checks of a spec,
 * the memory planned for it, and the load shown for a device. The spec's devices and threads are
 * resolved. Pure.
 */

/* Rows of the passes of one device; 0: it has none to run. */
struct row_share {
    long full, rest;            /* of a full mini-batch and of the short one that ends an epoch */
    long eval_begin, eval_rows; /* its part of the test rows ... */
    long eval_full, eval_rest;  /* ... goes through in batches of this size, the last one of that */
};

struct row_shares {
    bool rest_occurs; /* there are short mini-batches */
    struct row_share device[SPEC_MAX_DEVICES];
};

/*
 * `train_rows` 0: not known, then no mini-batch is short; `test_rows` 0: not known, then eval_full
 * is the most that it can be. ERROR_USAGE: the rows cannot be split as asked.
 */
bool share_rows(const struct spec *spec, long train_rows, long test_rows, struct row_shares *shares,
                struct error *err);

/*
 * The same for `split auto` later on: `full` are the rows of a full mini-batch that each device is
 * to have now. Short batches and the test rows are divided like it.
 */
bool share_rows_like(const struct spec *spec, const long *full, long train_rows, long test_rows,
                     struct row_shares *shares, struct error *err);

/* Rows of the short mini-batch that ends an epoch; 0: none occurs. */
long share_short_batch(const struct spec *spec, long train_rows);

/* With strategy tensor and mixed, where devices compute passes together: rows of the largest. */
long share_most_rows(const struct spec *spec, long train_rows);

/*
 * threads[0..devices-1]: how many each device keeps busy. A CPU device those of its team; another
 * one only the thread that directs it.
 */
void share_threads(const struct spec *spec, int *threads);

/* Are `cpu_count` CPUs enough for each thread of a run's devices to have one to itself? */
bool cpus_suffice(const int *threads, int devices, int cpu_count);

/* Then CPU device `index` of a host's devices has its CPUs from this one on. */
int first_cpu(const struct device_id *devices, const int *threads, int index);
