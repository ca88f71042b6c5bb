/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/trial.h"

#include <pthread.h>
#include <string.h>

/*
 * Which way a convolution is computed: an algorithm of the library or a method of our own. Which
 * one is fastest depends on the shape and the processor, so it is measured: once per shape,
 * direction, size of batch and of the team.
 *
 * The ways round differently. So that a run repeats bit for bit, and equal devices compute equally,
 * decisions are kept for the life of the process, shared by all devices, and on disk for later
 * ones where nothing disturbed them, and a way must win clearly over those in front of it. Small
 * work, where a measurement would be all noise, always goes direct.
 */

#define FEW_ROWS    32  /* per thread */
#define MANY_ROWS   128 /* so that batches of more rows share a decision */
#define SMALL_FLOPS 2e7 /* per thread */
#define CLEARLY     0.9
#define CLOSE       1.3
#define TIMED_RUNS  10 /* that nothing disturbed */
#define SURE_RUNS   2  /* at least, for a decision that is kept */

struct decision {
    struct conv_shape shape; /* of the smallest batch that shares it */
    enum conv_direction direction;
    int threads;
    struct conv_way way;
};

/* The one table of the process: measurements of the machine, not state of any device. */
static struct {
    pthread_mutex_t lock;
    struct decision *list;
    int count, capacity;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double flops(const struct conv_shape *s)
{
    return 2.0 * s->rows * s->out * s->out_h * s->out_w * s->in * s->kernel_h * s->kernel_w;
}

static struct decision *find(const struct decision *key)
{
    for (int i = 0; i < table.count; i++) {
        struct decision *d = &table.list[i];
        if (memcmp(&d->shape, &key->shape, sizeof d->shape) == 0 &&
            d->direction == key->direction && d->threads == key->threads)
            return d;
    }
    return NULL;
}

static bool remember(const struct decision *decision, struct error *err)
{
    if (table.count == table.capacity) {
        int capacity = table.capacity ? 2 * table.capacity : 64;
        struct decision *list = realloc(table.list, (size_t)capacity * sizeof *list);
        if (!list)
            return error_memory(err, "decisions about convolutions");
        table.list = list;
        table.capacity = capacity;
    }
    table.list[table.count++] = *decision;
    return true;
}

/* The first way of all unless another is clearly faster. */
static int fastest(const struct conv_timing *timings, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (timings[i].seconds >= 0 &&
            (timings[best].seconds < 0 || timings[i].seconds < CLEARLY * timings[best].seconds))
            best = i;
    return best;
}

/* Whether every way there is was measured on a machine that had nothing else to do. */
static bool are_sure(const struct conv_timing *timings, int count)
{
    for (int i = 0; i < count; i++)
        if (timings[i].seconds >= 0 && timings[i].calm_runs < SURE_RUNS)
            return false;
    return true;
}

/* The first method of our own, which mostly wins; else the first way of all. */
static int first_own(const struct conv_way *ways, int count)
{
    for (int i = 0; i < count; i++)
        if (ways[i].method)
            return i;
    return 0;
}

/* Those that a measurement of all leaves in the race; gives their number. */
static int contenders(const struct conv_timing *timings, int count, int *list)
{
    const int best = fastest(timings, count);
    int found = 0;
    for (int i = 0; i < count; i++)
        if (timings[i].seconds >= 0 && timings[i].seconds < CLOSE * timings[best].seconds)
            list[found++] = i;
    return found;
}

/* What measurements say. */
struct verdict {
    int best;
    double seconds;
    bool sure; /* the machine had nothing else to do: good enough for later processes */
};

/* Let the ways list[0..count) run on so many rows. */
static bool compare(struct device *device, const struct decision *d, int rows,
                    const struct conv_way *ways, const int *list, int count,
                    struct conv_timing *timings, struct verdict *verdict, struct error *err)
{
    struct conv_shape shape = d->shape;
    struct conv_way some[CONV_WAYS];
    shape.rows = rows;
    for (int i = 0; i < count; i++)
        some[i] = ways[list[i]];
    if (!conv_measure(device, &shape, d->direction, some, count, TIMED_RUNS, timings, err))
        return false;
    const int best = fastest(timings, count);
    *verdict = (struct verdict){list[best], timings[best].seconds, are_sure(timings, count)};
    return true;
}

/*
 * On a few rows first, then, where that leaves more than one in the race, on as many as there are:
 * what some ways do with the weights pays for large batches only. What a busy machine shows is no
 * basis: there the usual winner serves, or the one that the first measurement is sure of.
 */
static bool measure(struct device *device, const struct decision *d, const struct conv_way *ways,
                    int count, struct verdict *verdict, struct error *err)
{
    struct conv_timing timings[CONV_WAYS];
    struct verdict second;
    const int few = FEW_ROWS * d->threads, rows = d->shape.rows < few ? d->shape.rows : few;
    int list[CONV_WAYS] = {0};
    for (int i = 0; i < count; i++)
        list[i] = i;
    if (!compare(device, d, rows, ways, list, count, timings, verdict, err))
        return false;
    if (!verdict->sure)
        verdict->best = first_own(ways, count);
    count = contenders(timings, count, list);
    if (!verdict->sure || count < 2 || rows == d->shape.rows)
        return true;
    if (!compare(device, d, d->shape.rows, ways, list, count, timings, &second, err))
        return false;
    if (second.sure)
        *verdict = second;
    verdict->sure = second.sure;
    return true;
}

/* Where it is not sure, the next process measures again. */
static bool measure_and_keep(struct device *device, const struct decision *d,
                             const struct conv_way *ways, int count, int *best, struct error *err)
{
    struct verdict verdict;
    if (!measure(device, d, ways, count, &verdict, err))
        return false;
    *best = verdict.best;
    if (verdict.sure)
        conv_remember(&d->shape, d->direction, d->threads, ways[*best], verdict.seconds);
    return true;
}

static bool decide(struct device *device, struct decision *d, const struct conv_way *ways,
                   int count, struct error *err)
{
    int best = conv_recall(&d->shape, d->direction, d->threads, ways, count);
    if (best < 0 && !measure_and_keep(device, d, ways, count, &best, err))
        return false;
    d->way = ways[best];
    return remember(d, err);
}

/* What was measured earlier, else the usual winner. */
static struct conv_way guess(const struct decision *d, const struct conv_way *ways, int count)
{
    const int best = conv_recall(&d->shape, d->direction, d->threads, ways, count);
    return ways[best >= 0 ? best : first_own(ways, count)];
}

/* Batches of about the same size share decisions: powers of two. */
static int measured_rows(int rows, int threads)
{
    int measured = 1;
    while (measured <= rows / 2 && measured <= MANY_ROWS * threads / 2)
        measured *= 2;
    return measured;
}

/* Without what makes no difference to this direction. */
static struct conv_shape measured_shape(const struct conv_shape *shape,
                                        enum conv_direction direction, int threads)
{
    struct conv_shape measured = *shape;
    measured.rows = measured_rows(shape->rows, threads);
    if (direction != CONV_FORWARD)
        measured.relu = measured.add = false;
    if (direction == CONV_BACKWARD_DATA)
        measured.bias = false;
    return measured;
}

bool conv_choose(struct device *device, const struct conv_shape *shape,
                 enum conv_direction direction, struct conv_way *out, struct error *err)
{
    struct decision key = {.direction = direction, .threads = device->threads};
    struct conv_way ways[CONV_WAYS];
    int count = conv_ways(shape, direction, ways);
    *out = ways[0];
    if (device->own_methods) {
        *out = ways[first_own(ways, count)];
        return true;
    }
    key.shape = measured_shape(shape, direction, device->threads);
    if (count == 1 || flops(&key.shape) < SMALL_FLOPS * device->threads)
        return true;
    if (device->deterministic) { /* whatever was measured, or will be when the machine is idle */
        *out = ways[first_own(ways, count)];
        return true;
    }
    /* Held while measuring: devices of one run ask the same questions, and one answer serves all.
     */
    pthread_mutex_lock(&table.lock);
    const struct decision *known = find(&key);
    bool ok = true;
    if (known)
        *out = known->way;
    else if (device->estimate)
        *out = guess(&key, ways, count);
    else if ((ok = decide(device, &key, ways, count, err)))
        *out = key.way;
    pthread_mutex_unlock(&table.lock);
    return ok;
}
