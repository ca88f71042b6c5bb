/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_PROFILE_FIGURES_H
#define DPARTUI_ENGINE_TRAIN_PROFILE_FIGURES_H

#include <stdbool.h>

#include "base/error.h"
#include "engine/train/profile/times.h"

/*
 * The bookkeeping of a run: what was trained in what time. Seconds are wall time. An epoch's time
 * is that of its training part: data loading is in it; pauses and evaluation are not.
 */

/* Rows per second over the last second or so. */
struct rate {
    double rows, seconds, begin, value;
};

struct device_figures {
    long rows; /* of this epoch */
    double compute_s, sync_s;
    struct rate rate; /* while it computed */
};

struct epoch_figures {
    long epoch, steps, rows, correct;
    double loss_sum, seconds;
    double spent_s; /* until it has ended: so far, without pauses */
    /*
     * Along the critical path: in every step the longest time any device computed and the longest
     * it synchronised. What is left of `seconds` is waiting, for data and between steps.
     */
    double compute_s, sync_s;
    double reduce_s; /* of sync_s: reducing gradients */
    double test_loss, test_acc, eval_s;
    struct device_figures devices[SPEC_MAX_DEVICES];
};

struct figures {
    double begin; /* of the run, on clock_seconds */
    long steps, rows;
    double train_s, eval_s; /* of all epochs before the running one, of all evaluations */
    long evaluations;
    double test_loss, test_acc; /* newest; NAN before the first */
    struct rate rate;
    struct epoch_figures epoch; /* the running or last one */
    int count, capacity;        /* whole epochs */
    double *seconds;            /* of each */
};

void figures_begin(struct figures *figures);
void figures_free(struct figures *figures);
void figures_begin_epoch(struct figures *figures, long epoch);

/* The parts of a step, in device order; it took `seconds` in all. */
void figures_step(struct figures *figures, const struct step_part *parts, int devices,
                  double seconds);

void figures_end_epoch(struct figures *figures, double seconds);
/* The epoch now ended was a whole one: it counts for the time per epoch. */
bool figures_count_epoch(struct figures *figures, struct error *err);
void figures_evaluated(struct figures *figures, double loss, double accuracy, double seconds);

/*
 * Continue after these steps, rows and whole epochs, which took train_s and eval_s in all; of
 * each of those epochs only the mean time is known.
 */
bool figures_resume(struct figures *figures, long steps, long rows, long epochs, double train_s,
                    double eval_s, struct error *err);

/* NAN where there is nothing to divide by. */
double figures_ratio(double numerator, double denominator);
double figures_mean_seconds(const struct figures *figures);
/* Without the first epoch, unless it is the only one. */
double figures_median_seconds(const struct figures *figures);

#endif
