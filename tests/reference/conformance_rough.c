/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/reference/conformance.h"

/*
 * Changing the weights stands for all that is rounded: beside them the activations and their
 * gradients, each several times a layer. FACTOR is for these and for the few draws. Where a ReLU's
 * input is so near to zero that one rounding in a hundred changes its sign, gradients jump, and the
 * few draws miss it: only then there are more.
 */
#define DRAWS  16 /* of small networks, where chance is large */
#define FEW    4
#define MORE   40 /* times as many, of small networks */
#define MANY   ((size_t)1 << 20)
#define FACTOR 8.0
#define FLOOR  12.0 /* units that any array may be off by: sums of what nearly cancels */

static double distance(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)a[i] - (b ? (double)b[i] : 0);
        sum += difference * difference;
    }
    return sqrt(sum / (double)(count ? count : 1));
}

/* The largest that each array of an outcome was apart from the expected one. */
struct movement {
    double logits, loss, *grads, *after; /* per parameter of the network */
};

static void movement_make(struct movement *m, const struct net *net)
{
    *m = (struct movement){.grads = calloc((size_t)net->param_count + 1, sizeof(double)),
                           .after = calloc((size_t)net->param_count + 1, sizeof(double))};
    ck_assert(m->grads && m->after);
}

static void movement_free(struct movement *m)
{
    free(m->grads);
    free(m->after);
}

static void movement_take(struct movement *m, const struct trial *trial,
                          const struct outcome *moved, const struct outcome *expected)
{
    const size_t logits = (size_t)trial->rows * (size_t)trial->net->classes;
    m->logits = fmax(m->logits, distance(moved->logits, expected->logits, logits));
    m->loss = fmax(m->loss, fabs(moved->loss_sum - expected->loss_sum));
    for (int i = 0; i < trial->net->param_count; i++) {
        const struct net_param *p = &trial->net->params[i];
        m->grads[i] = fmax(
            m->grads[i], distance(moved->grads + p->offset, expected->grads + p->offset, p->count));
        m->after[i] = fmax(m->after[i], distance(moved->after.values + p->offset,
                                                 expected->after.values + p->offset, p->count));
    }
}

/* Of both modes, by the same changes: draws first..end-1. */
static void measure(const struct trial *trial, double unit, uint32_t first, uint32_t end,
                    const struct outcome *expected, struct movement *m)
{
    struct trial changed = *trial;
    struct error err = ERROR_INIT;
    ck_assert_msg(weights_create(trial->net, &changed.weights, &err), "%s", err.text);
    for (uint32_t draw = first; draw < end; draw++) {
        struct rng_stream stream = rng_stream(11, RNG_RANDOM_DATA, draw, 0, 0);
        for (size_t i = 0; i < trial->net->value_count; i++) {
            double by = unit * (2 * rng_uniform(&stream, i) - 1);
            changed.weights.values[i] = (float)((double)trial->weights.values[i] * (1 + by));
        }
        for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
            struct outcome moved;
            trial_reference(&changed, mode, &moved);
            movement_take(&m[mode], trial, &moved, &expected[mode]);
            outcome_free(&moved);
        }
    }
    weights_free(&changed.weights);
}

/* What is off by more than allowed; a NaN is. */
struct excess {
    bool any;
    char text[200]; /* the first */
};

static void allow(double off, double moved, double size, double unit, const char *name,
                  struct excess *excess)
{
    double allowed = FACTOR * moved + FLOOR * unit * size;
    if (!(off <= allowed) && !excess->any) {
        excess->any = true;
        snprintf(excess->text, sizeof excess->text,
                 "%s is off by %.3g, allowed %.3g; its size is %.3g", name, off, allowed, size);
    }
}

static struct excess compare(const struct trial *trial, enum plan_mode mode, double unit,
                             const struct outcome *got, const struct outcome *expected,
                             const struct movement *m)
{
    struct excess excess = {.any = false};
    const struct net *net = trial->net;
    const size_t logits = (size_t)trial->rows * (size_t)net->classes;
    struct movement off;
    movement_make(&off, net);
    movement_take(&off, trial, got, expected);
    /* A gradient that is (nearly) zero has the rounding errors of the others. */
    double least = 0.3 * distance(expected->grads, NULL, net->value_count);
    allow(off.logits, m->logits, distance(expected->logits, NULL, logits), unit, "logits", &excess);
    allow(off.loss, m->loss, fabs(expected->loss_sum), unit, "the loss", &excess);
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *p = &net->params[i];
        double size = distance(expected->grads + p->offset, NULL, p->count);
        if (mode == PLAN_TRAIN && net_is_trained(p))
            allow(off.grads[i], m->grads[i], fmax(size, least), unit, p->name, &excess);
        /* Weights are not changed by a pass; running statistics are f32, of rounded numbers. */
        if (net_is_trained(p))
            allow(off.after[i], 0, 0, unit, p->name, &excess);
        else
            allow(off.after[i], mode == PLAN_TRAIN ? m->after[i] : 0,
                  distance(expected->after.values + p->offset, NULL, p->count), unit, p->name,
                  &excess);
    }
    movement_free(&off);
    return excess;
}

void conform_rough(const struct trial_device *device, const struct trial *trial, double unit,
                   const char *what)
{
    struct outcome expected[PLAN_EVAL + 1], got[PLAN_EVAL + 1];
    struct movement m[PLAN_EVAL + 1];
    struct excess excess[PLAN_EVAL + 1];
    const bool large = trial->net->value_count > MANY;
    const uint32_t draws = large ? FEW : DRAWS;
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
        movement_make(&m[mode], trial->net);
        trial_reference(trial, mode, &expected[mode]);
        trial_run(trial, device, mode, &got[mode]);
    }
    measure(trial, unit, 0, draws, expected, m);
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++)
        excess[mode] = compare(trial, mode, unit, &got[mode], &expected[mode], &m[mode]);
    if (!large && (excess[PLAN_TRAIN].any || excess[PLAN_EVAL].any))
        measure(trial, unit, draws, MORE * draws, expected, m);
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
        excess[mode] = compare(trial, mode, unit, &got[mode], &expected[mode], &m[mode]);
        ck_assert_msg(!excess[mode].any, "%s: %s", what, excess[mode].text);
    }
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
        movement_free(&m[mode]);
        outcome_free(&got[mode]);
        outcome_free(&expected[mode]);
    }
}
