/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * How long a training step would take on a number of devices that was not tried, from steps on
 * numbers that were. Pure; times in seconds.
 *
 * On n devices with r rows each a step is taken to be t = c + e + w:
 *
 *     c(r)    = c0 + c1 r                       computing: what any pass takes, and each row
 *     e(n, r) = s + max(L, T - h c(r))          all-reduce, as far as computing does not hide it
 *     T(n)    = 2 (n - 1) m l + 2 (n - 1)/n B/b   its whole time, in m buckets
 *     L(n)    = 2 (n - 1) l + 2 (n - 1)/n u B/b   that of the last bucket, the part u of all
 *     w(n, r) = w1 + v (H(n) - 1) c(r)          between steps; for the slowest device
 *
 * - T is that of rings, in which each device sends 2 (n - 1) messages of 1/n of a bucket, with a
 *   latency of l and a bandwidth of b (Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms
 *   for clusters of workstations", 2009).
 * - Buckets are summed during the backward pass, which is 2/3 of computing: two of three matrix
 *   products. Half of all is complete after a quarter of it, where the last layers have most
 *   parameters, which makes h = 1/2; the range has 1/3 to 2/3. The last bucket is complete when the
 *   pass ends (Li and others, "PyTorch Distributed", 2020; tests/bench/scaling_model.py plays the
 *   same as events). Where devices sum after the pass h is 0, and there is one bucket; over hosts h
 *   is measured.
 * - Delays that are exponentially distributed are at most H(n) = 1 + 1/2 + ... + 1/n times their
 *   mean on n devices (Renyi, 1953), so the others wait for H(n) - 1 of them.
 * - s and w1 are those of n = 1: with hosts, what the devices of one need.
 *
 * c0, c1, l, B/b, w1 and v are fitted by least squares, none below 0. That takes few runs, where
 * playing events takes the profile of each operation.
 */

enum { PREDICT_POINTS = 64 };

/* What was measured. */
struct predict_point {
    int devices;           /* n; hosts, where the runs are over several */
    double rows;           /* r */
    double step_s;         /* t, of which all-reduce and waiting: */
    double sync_s, wait_s; /* NAN: not known */
    double network_s;      /* T; NAN: there is one host */
    double variation;      /* steps took up to this part more or less: 0.05 */
};

struct predict_model {
    int count;
    struct predict_point points[PREDICT_POINTS];
    double bytes;     /* B; NAN: not known */
    double bandwidth; /* b, in bytes per second; NAN: B/b is fitted */
    bool overlaps;    /* see h */
};

/* The times of a step, and between which it may be. */
struct predicted_step {
    double step_s, low_s, high_s;
    double compute_s, sync_s, wait_s;
};

/* What there are too few points for. */
enum predict_lack {
    PREDICT_LACKS_NOTHING,
    PREDICT_LACKS_ROWS, /* c: as many rows were not measured, nor two other numbers of them */
    PREDICT_LACKS_SYNC, /* T: there are neither points of several devices nor a bandwidth */
    PREDICT_LACKS_WAIT, /* w: neither one device was measured nor two other numbers of them */
    PREDICT_LACKS_BYTES /* a bandwidth says nothing without bytes */
};

/* What is predicted. */
enum predict_on { PREDICT_ON_GPUS, PREDICT_ON_CPUS, PREDICT_ON_HOSTS };

/* `err` says what to measure, by which options, before as many can be predicted. Returns false. */
bool predict_refuse(enum predict_lack lack, int count, enum predict_on on, struct error *err);

/* Needs no times, so a plan can be asked about as well. */
enum predict_lack predict_lacks(const struct predict_model *model, int devices, double rows);

/*
 * A step on `devices` with `rows` each, where nothing lacks. The range is what comes of
 * moving each point by its variation, of what the model misses in the measured points, and of what
 * these leave open: h; with one number of devices above 1 T may be all latency; with none nothing
 * may be hidden, and devices may be slower side by side.
 */
struct predicted_step predict_step(const struct predict_model *model, int devices, double rows);
