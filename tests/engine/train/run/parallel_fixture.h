/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <stdbool.h>

#include "engine/net/net.h"
#include "engine/weights/weights.h"
#include "tests/recorder.h"

/*
 * Runs on real CPU devices, with small pictures made here, whose outcomes can be compared: 128 rows
 * to train on, 50 to test; the models are "plain" and, with BatchNorm, "normalised".
 */

/*
 * Weights after ten steps may differ from one device's by this much, relative to the largest weight
 * of the same array: sums of single-precision numbers (eps 6e-8) in another order, carried through
 * ten steps. With BatchNorm, whose statistics divide by small variances, differences grow faster.
 */
#define PLAIN_TOLERANCE      2e-6
#define NORMALISED_TOLERANCE 1e-5

/* What the devices' passes are timed with, if not NULL. */
extern double (*parallel_clock)(void);

/* How they train, as of struct recorder. */
extern recorder_train *parallel_train;

/* Numbers of devices to try, and how each may split batches, with a short last one in every epoch.
 */
enum { PARALLEL_COUNTS = 4, PARALLEL_SPLITS = 4 };
extern const int parallel_counts[PARALLEL_COUNTS];
struct parallel_split {
    const char *rule[PARALLEL_COUNTS]; /* for each number of devices */
    const char *batches;               /* full and short last ones that the rule can split */
};
extern const struct parallel_split parallel_splits[PARALLEL_SPLITS];

/* Of the running test: holds data, models and weights. */
extern char *folder;

/* What a run leaves: its weights and its last figures. */
struct outcome {
    struct net *net;
    struct weights weights;
    double train_loss, test_loss, test_acc;
    double noise;      /* scale of the gradients'; NAN: not told */
    int share_changes; /* how often `split auto` has changed the shares */
};

void outcome_free(struct outcome *outcome);

/* A recorder with these settings, and the outcome of its run, which ended or was stopped. */
void parallel_begin(struct recorder *rec, const char *model, const char *settings);
struct outcome parallel_outcome(const struct recorder *rec);

struct outcome train(const char *model, const char *settings);
/* A run to its end, or asked to stop after this step: after the first one it has not evaluated
 * anything yet. */
struct outcome train_until(const char *model, const char *settings, long stop);

/* Largest difference of one array's numbers, relative to the largest of them. */
double difference(const struct net_param *param, const float *one, const float *other);
/* Fail unless the outcomes are equal up to `tolerance`, or in every bit. */
void check_close(const struct outcome *one, const struct outcome *other, double tolerance,
                 const char *what);
void check_same(const struct outcome *one, const struct outcome *other, const char *what);

/* A case whose tests find `folder` made. */
TCase *add_parallel_case(Suite *suite, const char *name);
