/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_EXPERIMENT_FIGURES_H
#define DPARTUI_EXPERIMENT_FIGURES_H

#include "experiment/study.h"

/*
 * What a study measured. Pure; a figure that is not known is NAN, and so is what would follow from
 * it.
 */

/* What was left out because a run is slower at its beginning. */
enum study_warmup {
    WARMUP_EPOCH, /* its first epoch */
    WARMUP_STEPS, /* it has one epoch: the first tenth of its steps, at least one */
    WARMUP_KEPT,  /* it has too few steps to leave any out */
};

/* One run. A sample is a counted epoch, or what is counted of a single one. */
struct study_measure {
    int variant;
    enum study_state state;
    size_t samples;
    double *s_per_epoch, *samples_per_s; /* owned */
    double median_s_per_epoch, median_samples_per_s;
    enum study_warmup warmup;
    double sync_share;  /* of the devices' time in counted epochs: summing gradients, exposed */
    double wait_share;  /* neither computing nor summing: for other devices, for data */
    double device_rate; /* rows a device computes in a second, mean of the devices */
    double rows;        /* of a device in a step, mean */
    double test_acc;    /* the last one */
    double target_s;    /* seconds of training until the first epoch that reached the target */
    double wall_s;      /* from its beginning to its end, evaluation and all */
};

/* Of the finite ones among some values; all NAN when count is 0. */
struct study_spread {
    int count;
    double mean, median, low, high;
};

struct study_row {
    const struct study_variant *variant;
    int done, failed, missing; /* runs; missing: not trained, stopped or deleted */
    const char *reason;        /* of the first that failed, or NULL */
    struct study_spread s_per_epoch, samples_per_s;
    struct study_spread test_acc, target_s;
    double speed_up;                  /* samples/s against the base, medians */
    double efficiency;                /* STUDY_DEVICES: speed-up / devices */
    double sync_share, wait_share;    /* means over runs */
    double device_rate, rows, wall_s; /* likewise */
};

struct study_table {
    const struct study *study;
    int count;
    struct study_row rows[STUDY_VARIANTS]; /* one a variant, in their order */
    int base;                              /* the row others are compared with; -1: none */
    int last;                              /* the one with most devices that has a speed; -1 */
    enum study_warmup warmup;              /* the least that was left out of any run */
};

/* Minimum, median, mean, maximum. Sorts `values`. */
struct study_spread study_spread(double *values, size_t count);

/*
 * Read a run object with "epochs" and "points", as the store and `show` give it. Release with
 * study_measure_free, also when it fails, which it does when memory runs out.
 */
bool study_measure_run(const json_t *object, double target_acc, struct study_measure *measure,
                       struct error *err);
void study_measure_free(struct study_measure *measure);

/*
 * The table of a study from one measure per entry, in the same order. The base is the variant with
 * the fewest devices whose speed is known; of batches and rates the first whose speed is.
 */
bool study_tabulate(const struct study *study, const struct study_measure *measures,
                    struct study_table *table, struct error *err);

/*
 * One sentence with its figures: what keeps the most devices from being as many times as fast, or
 * which batch or learning rate is the fastest and which the most accurate. Into `buffer`, which is
 * returned; "" when too little is known.
 */
const char *study_sentence(const struct study_table *table, char *buffer, size_t size);

/* What was left out of the speeds, in words. */
const char *study_warmup_words(enum study_warmup warmup);

/*
 * Seconds until all is done: what the entries that wait will take, by the runs that are done, and
 * `running_s` for the one at work (NAN: not known). NAN when no run is done and that is not known.
 */
double study_seconds_left(const struct study *study, const struct study_measure *measures,
                          double running_s);

#endif
