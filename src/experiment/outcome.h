/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/measure.h"
#include "experiment/spread.h"
#include "spec/spec.h"

/*
 * What runs of the same settings measured, and what that is against runs on fewer devices. The
 * command compare and the workbench have all their numbers from here. A number that is not known
 * is NAN, and so is what would follow from it.
 */
struct outcome {
    int devices; /* 0: not known */
    int cpus;    /* CPU devices among them */
    int threads; /* of all of these together; 0: not known */
    enum strategy strategy;
    /* Epochs that count, of all runs; test accuracies of the runs. */
    struct spread s_per_epoch, samples_per_s, test_acc;
    struct spread
        target_s;    /* seconds of training until the target accuracy, of those that got it */
    int target_runs; /* of which it could be known: not of those that were resumed elsewhere */
    struct spread energy_j, samples_per_j; /* of the same epochs as the speeds */
    struct spread target_j;                /* joules of training until the target accuracy */
    bool validated;                        /* test_acc is accuracy on validation rows */
    double epochs;                         /* of a run, mean */
    bool warm_up;                          /* some run has a single epoch, which counts */
    double sync_share; /* of the devices' time, means over the runs: all-reduce, exposed */
    double wait_share; /* neither computing nor all-reduce: waiting for input or other devices */
    double device_rate, rows; /* as in measure.h, means over the runs */
    double noise;             /* gradient noise scale in rows, harmonic mean over the runs */
    double memory;            /* bytes, of the device that needs most in any run */
    double step_bytes;        /* that the devices tell each other in a step */
    double gradient_bytes;    /* of the network: what an all-reduce sums */
    char type[8];             /* of the last run, as in measure.h */
    double network_share; /* of training: sums over hosts are under way; NAN: there is one host */
    double network_speed; /* bytes per second that each host sends meanwhile */
    /* Against a base: */
    double speed_up;        /* samples/s, medians */
    double efficiency;      /* speed-up / (devices / devices of the base); 1: ideal */
    double accuracy_change; /* after as many epochs */
    double input_share;     /* the part of wait_share that is waiting for input */
};

/* Of the runs with these measures, with a target accuracy, NAN for none; the part against a base is
 * not known yet. */
bool outcome_make(struct outcome *outcome, const struct measure *const *runs, int count,
                  double target_acc, struct error *err);

/* Fill in the part against a base, which may be the outcome itself. */
void outcome_compare(struct outcome *outcome, const struct outcome *base);
