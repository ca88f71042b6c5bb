/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "engine/train/profile/times.h"

/*
 * What a run has trained, and in what time. Seconds are wall time. An epoch's time
 * is that of its training part: data loading is in it; pauses and evaluation are not.
 */

/* Rows per second over the last second or so. */
struct rate {
    double rows, seconds, begin, value;
};

struct device_metrics {
    long rows; /* of this epoch */
    double compute_s, sync_s;
    struct rate rate; /* while it computed */
};

struct epoch_metrics {
    long epoch, steps, rows, correct;
    double loss_sum, seconds;
    long noises;      /* steps that measured the gradients' noise */
    bool interrupted; /* by a pause, or resumed within: its energy is not known */
    double energy_j;  /* that its devices used in its training part; NAN: not known */
    double spent_s;   /* until it has ended: so far, without pauses */
    double before_s;  /* of these: before a resume within it, which devices do not count */
    /*
     * Along the critical path: in every step the longest time any device computed and the longest
     * it synchronised. What is left of `seconds` is waiting, for data and between steps.
     */
    double compute_s, sync_s;
    double reduce_s; /* of sync_s: reducing gradients */
    double summed_s; /* devices themselves summed gradients over hosts: the last to come to each */
    double val_loss, val_acc, test_loss, test_acc, eval_s; /* NAN: not evaluated on those rows */
    struct device_metrics devices[SPEC_MAX_DEVICES];
};

/* Of a run so far. */
struct metrics_sums {
    long epochs, steps, rows;
    double train_s, eval_s;
};

struct metrics {
    double begin; /* of the run, on clock_seconds */
    long epochs;  /* whole ones, evaluated */
    long steps, rows;
    double train_s, eval_s; /* of all epochs before the running one, of all evaluations */
    long evaluations;
    double val_loss, val_acc, test_loss, test_acc; /* newest; NAN before the first */
    struct noise_estimate noise;                   /* of the gradients, smoothed */
    struct rate rate;
    struct epoch_metrics epoch; /* the running or last one */
    struct metrics_sums before; /* of these, see metrics_count_from_here */
    int count, capacity;        /* whole epochs after those */
    double *seconds;            /* of the first, then of the others in ascending order */
};

void metrics_begin(struct metrics *metrics);
void metrics_free(struct metrics *metrics);
void metrics_begin_epoch(struct metrics *metrics, long epoch);

/* The parts of a step of so many rows, in device order; it took `seconds` in all. */
void metrics_step(struct metrics *metrics, const struct step_part *parts, int devices, long rows,
                  double seconds);

/* What the step measured of the gradients' noise, if it did; the weight as of noise_add. */
void metrics_noise(struct metrics *metrics, const struct step_part *parts, int devices,
                   double weight);

void metrics_end_epoch(struct metrics *metrics, double seconds);
/* The epoch now ended was a whole one: it counts for the time per epoch. */
bool metrics_count_epoch(struct metrics *metrics, struct error *err);
/* What is left of the epoch for the device, since the run was resumed, to the end or so far. */
double metrics_wait(const struct epoch_metrics *epoch, int device);
/* On validation rows or on test rows. */
void metrics_evaluated(struct metrics *metrics, bool validation, double loss, double accuracy,
                       double seconds);
/* What the running or last epoch is compared by: the accuracy on validation rows, where there are
 * some, else on test rows. NAN: not evaluated. */
double metrics_score(const struct epoch_metrics *epoch);

/*
 * From here on, where an epoch begins, speed is that of what follows: before, the run had other
 * devices, or settings by which a step takes another time.
 */
void metrics_count_from_here(struct metrics *metrics);

/* The times of the epochs that count, for metrics_resume: the first, then the others in ascending
 * order; beyond `most`, evenly chosen ones. How many. */
int metrics_times(const struct metrics *metrics, double *times, int most);

/*
 * Continue after `all`: whole epochs, evaluated, but the steps and rows also of one that is not
 * whole. Those in `before`, if any, do not count as speed; the others took the `known` times that
 * metrics_times gave, or, where none is known, their mean.
 */
bool metrics_resume(struct metrics *metrics, const struct metrics_sums *all,
                    const struct metrics_sums *before, const double *times, int known,
                    struct error *err);

/* Mean times of what counts as speed, of a step and of an evaluation; until there is some, of all;
 * NAN before the first one. */
double metrics_step_s(const struct metrics *metrics);
double metrics_evaluation_s(const struct metrics *metrics);

/* NAN where there is nothing to divide by. */
double metrics_ratio(double numerator, double denominator);

/*
 * How fast a run is, by the rule of all comparisons (src/experiment/measure.h): medians of its
 * whole epochs without the first, which is warm-up, unless it is the only one. NAN: not known.
 */
struct run_speed {
    double s_per_epoch, samples_per_s;
};

/* Of what has been trained so far; `rows` are those of a whole epoch. Before one has ended the
 * speed is that of the steps there were. */
struct run_speed metrics_speed(const struct metrics *metrics, double rows);
