/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_EXPERIMENT_COMPARE_H
#define DPARTUI_EXPERIMENT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What more devices bring: runs that differ in the number of their devices, side by side. Pure; the
 * workbench and commands fill plain structs from what they know. Figures that are not known are
 * NAN, and so is what would follow from them.
 *
 * Two kinds of series answer two questions:
 * - fixed: the same batch and learning rate on every number of devices. The same work is divided
 *   further and further (strong scaling), so each device's shard shrinks;
 * - growing: batch and learning rate in proportion to the devices. Each device keeps its shard, as
 *   "Dive into Deep Learning" does when it trains with 256 and 0.1 on one GPU and with 512 and 0.2
 *   on two.
 *
 * The base is the run on the fewest devices whose speed is known; it need not have one device:
 *
 *     speed-up   = samples/s / samples/s of the base
 *                  (or s/epoch of the base / s/epoch, where samples/s is not known)
 *     efficiency = speed-up / (devices / devices of the base)
 *
 * An efficiency of 1 is the ideal line: k times the devices, k times the rows a second.
 */
enum compare_kind { COMPARE_FIXED, COMPARE_GROWING };

/* The text is the caller's and must outlive the series. */
struct compare_run {
    long run;
    const char *model, *data, *split, *sync;
    const char *device_kind; /* "cpu", "cuda" */
    unsigned long settings;  /* a digest of all other settings; 0: not known */
    int threads;             /* of each CPU device; 0: not known, or there are none */
    int devices;
    double batch, lr;
    double s_per_epoch, samples_per_s, epochs_done, test_acc;
    bool failed;
    int preference; /* of several runs on as many devices the one with the highest is taken */
};

struct compare_row {
    struct compare_run run;
    int others;             /* further runs that would fit this row */
    double speed_up;        /* against the base */
    double efficiency;      /* 1: ideal */
    double accuracy_change; /* from the base's, after as many epochs */
};

enum { COMPARE_ROWS = 64 };

struct compare_series {
    enum compare_kind kind;
    struct compare_run anchor;             /* what all are alike to */
    double batch, lr;                      /* fixed: of every run; growing: for one device */
    int count;                             /* rows, by rising number of devices */
    struct compare_row rows[COMPARE_ROWS]; /* one a number of devices */
    int base;                              /* the row others are compared with; -1: no speed yet */
    bool threads_differ;                   /* CPU devices of some rows have more threads */
};

/*
 * Does everything agree that is held equal: all but devices, batch, lr, threads and the number of
 * epochs? What is not known agrees with anything. Weights of a split belong to the devices.
 */
bool compare_alike(const struct compare_run *a, const struct compare_run *b);

/*
 * A series: begin, add all runs in any order, finish. `anchor` says what is held equal, `measure`
 * gives batch and lr (often the same run). A run that does not fit is passed over. Of several on
 * as many devices that one is kept which has the highest preference, then the anchor's threads,
 * then a known speed, then one that did not fail, then the newest.
 */
void compare_begin(struct compare_series *series, enum compare_kind kind,
                   const struct compare_run *anchor, const struct compare_run *measure);
void compare_add(struct compare_series *series, const struct compare_run *run);
void compare_finish(struct compare_series *series);

/* The samples/s, s/epoch, speed-up that ideal scaling from the base would give on `devices`. */
double compare_ideal_speed_up(const struct compare_series *series, double devices);

/*
 * What a row's figures mean, such as "2 devices are 1.87 times as fast as 1: 94% efficient,
 * accuracy +0.002". Empty for the base itself and where nothing is known.
 */
void compare_sentence(const struct compare_series *series, const struct compare_row *row,
                      char *buffer, size_t size);

#endif
