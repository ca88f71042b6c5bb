/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv_trial.h"

#include <pthread.h>
#include <string.h>

/*
 * Which way a convolution is computed: an algorithm of the library or a method of our own. Which
 * one is fastest depends on the shape and the processor, so it is measured: once per shape,
 * direction and team size, on a few rows per thread.
 *
 * The ways round differently. So that a run repeats bit for bit, and equal devices compute equally,
 * decisions are kept for the life of the process, shared by all devices, and on disk for later
 * ones where nothing disturbed them, and a way must win clearly over those in front of it. Small
 * work, where a measurement would be all noise, always goes direct.
 */

#define ROWS_PER_THREAD 32
#define SMALL_FLOPS     2e7 /* per thread */
#define CLEARLY         0.9
#define TIMED_RUNS      10 /* that nothing disturbed */
#define SURE_RUNS       2  /* at least, for a decision that is kept */

struct decision {
    struct conv_shape shape; /* with the rows that were measured */
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

/* What a busy machine shows is no basis for all later runs: there the usual winner serves, and the
 * next process measures again. */
static bool measure(struct device *device, const struct decision *d, const struct conv_way *ways,
                    int count, int *best, struct error *err)
{
    struct conv_timing timings[CONV_WAYS];
    if (!conv_measure(device, &d->shape, d->direction, ways, count, TIMED_RUNS, timings, err))
        return false;
    if (are_sure(timings, count)) {
        *best = fastest(timings, count);
        conv_remember(&d->shape, d->direction, d->threads, ways[*best], timings[*best].seconds);
    } else {
        *best = first_own(ways, count);
    }
    return true;
}

static bool decide(struct device *device, struct decision *d, const struct conv_way *ways,
                   int count, struct error *err)
{
    int best = conv_recall(&d->shape, d->direction, d->threads, ways, count);
    if (best < 0 && !measure(device, d, ways, count, &best, err))
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

bool conv_choose(struct device *device, const struct conv_shape *shape,
                 enum conv_direction direction, struct conv_way *out, struct error *err)
{
    struct decision key = {.shape = *shape, .direction = direction, .threads = device->threads};
    struct conv_way ways[CONV_WAYS];
    int rows = ROWS_PER_THREAD * device->threads, count = conv_ways(shape, direction, ways);
    *out = ways[0];
    if (device->own_methods) {
        *out = ways[first_own(ways, count)];
        return true;
    }
    if (key.shape.rows > rows)
        key.shape.rows = rows;
    if (count == 1 || flops(&key.shape) < SMALL_FLOPS * device->threads)
        return true;
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
