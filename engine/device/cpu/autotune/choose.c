/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/autotune/choose.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/device/cpu/autotune/cache.h"
#include "engine/device/cpu/autotune/measure.h"
#include "engine/device/cpu/core/plan.h"

/*
 * Which algorithm is fastest depends on the shape and the processor, so it is measured: once per
 * shape, direction, size of batch and number of threads.
 *
 * Algorithms round differently. So that a run repeats bit for bit, and equal devices compute
 * equally, decisions are kept for the life of the process and shared by all devices; what was
 * measured undisturbed is also kept on disk for later processes. An algorithm must win clearly over
 * those before it in the list. Small convolutions, where a measurement would be all noise, always
 * use the library's direct algorithm.
 */

#define FEW_ROWS    32  /* per thread */
#define MANY_ROWS   128 /* so that batches of more rows share a decision */
#define SMALL_FLOPS 2e7 /* per thread */
#define CLEARLY     0.9 /* times the other's seconds: a clear win */
#define CLOSE       1.3 /* times the fastest's seconds: worth a second measurement */
#define TIMED_RUNS  10  /* calm ones */
#define SURE_RUNS   2   /* calm ones, at least, for a decision that is kept on disk */

struct decision {
    struct conv_shape shape; /* of the smallest batch that shares it */
    enum conv_direction direction;
    int threads;
    struct conv_algorithm algorithm;
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
    struct decision *list = array_grow(table.list, table.count, &table.capacity, sizeof *list);
    if (!list)
        return error_memory(err, "decisions about convolutions");
    table.list = list;
    list[table.count++] = *decision;
    return true;
}

/* The first of the list unless another is clearly faster. */
static int fastest(const struct conv_timing *timings, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (timings[i].seconds >= 0 &&
            (timings[best].seconds < 0 || timings[i].seconds < CLEARLY * timings[best].seconds))
            best = i;
    return best;
}

/* Whether every algorithm was measured while the machine was idle. */
static bool are_sure(const struct conv_timing *timings, int count)
{
    for (int i = 0; i < count; i++)
        if (timings[i].seconds >= 0 && timings[i].calm_runs < SURE_RUNS)
            return false;
    return true;
}

/* What usually wins: the first kernel of our own, else the first of the list, the library's. */
static int first_own(const struct conv_algorithm *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i].kernel)
            return i;
    return 0;
}

/* Those that are close to the fastest; returns their number. */
static int contenders(const struct conv_timing *timings, int count, int *which)
{
    const int best = fastest(timings, count);
    int found = 0;
    for (int i = 0; i < count; i++)
        if (timings[i].seconds >= 0 && timings[i].seconds < CLOSE * timings[best].seconds)
            which[found++] = i;
    return found;
}

struct verdict {
    int best; /* index into the list of all algorithms */
    double seconds;
    bool sure; /* measured while the machine was idle: good enough for later processes */
};

/* Measure the algorithms which[0..count) of the list on `rows` rows. */
static bool compare(struct device *device, const struct decision *d, int rows,
                    const struct conv_algorithm *list, const int *which, int count,
                    struct conv_timing *timings, struct verdict *verdict, struct error *err)
{
    struct conv_shape shape = d->shape;
    struct conv_algorithm some[CONV_MOST_ALGORITHMS];
    shape.rows = rows;
    for (int i = 0; i < count; i++)
        some[i] = list[which[i]];
    if (!conv_measure(device, &shape, d->direction, some, count, TIMED_RUNS, timings, err))
        return false;
    const int best = fastest(timings, count);
    *verdict = (struct verdict){which[best], timings[best].seconds, are_sure(timings, count)};
    return true;
}

/*
 * On a few rows first, then, if that leaves more than one close to the fastest, on all rows: what
 * some algorithms do with the weights pays for large batches only. Measurements on a busy machine
 * do not count: there it is the usual winner, or the one of the first measurement if that is sure.
 */
static bool measure(struct device *device, const struct decision *d,
                    const struct conv_algorithm *list, int count, struct verdict *verdict,
                    struct error *err)
{
    struct conv_timing timings[CONV_MOST_ALGORITHMS];
    struct verdict second;
    const int few = FEW_ROWS * d->threads, rows = d->shape.rows < few ? d->shape.rows : few;
    int which[CONV_MOST_ALGORITHMS] = {0};
    for (int i = 0; i < count; i++)
        which[i] = i;
    if (!compare(device, d, rows, list, which, count, timings, verdict, err))
        return false;
    if (!verdict->sure)
        verdict->best = first_own(list, count);
    count = contenders(timings, count, which);
    if (!verdict->sure || count < 2 || rows == d->shape.rows)
        return true;
    if (!compare(device, d, d->shape.rows, list, which, count, timings, &second, err))
        return false;
    if (second.sure)
        *verdict = second;
    verdict->sure = second.sure;
    return true;
}

/* A verdict that is not sure is not stored: the next process measures for itself. */
static bool measure_and_keep(struct device *device, const struct decision *d,
                             const struct conv_algorithm *list, int count, int *best,
                             struct error *err)
{
    struct verdict verdict;
    if (!measure(device, d, list, count, &verdict, err))
        return false;
    *best = verdict.best;
    if (verdict.sure)
        conv_cache_put(&d->shape, d->direction, d->threads, list[*best], verdict.seconds);
    return true;
}

static bool decide(struct device *device, struct decision *d, const struct conv_algorithm *list,
                   int count, struct error *err)
{
    int best = conv_cache_find(&d->shape, d->direction, d->threads, list, count);
    if (best < 0 && !measure_and_keep(device, d, list, count, &best, err))
        return false;
    d->algorithm = list[best];
    return remember(d, err);
}

/* What was measured earlier, else the usual winner. */
static struct conv_algorithm guess(const struct decision *d, const struct conv_algorithm *list,
                                   int count)
{
    const int best = conv_cache_find(&d->shape, d->direction, d->threads, list, count);
    return list[best >= 0 ? best : first_own(list, count)];
}

/* Batches of about the same size share decisions: powers of two. */
static int measured_rows(int rows, int threads)
{
    int measured = 1;
    while (measured <= rows / 2 && measured <= MANY_ROWS * threads / 2)
        measured *= 2;
    return measured;
}

/* Without members that make no difference to this direction. */
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
                 enum conv_direction direction, struct conv_algorithm *out, struct error *err)
{
    struct decision key = {.direction = direction, .threads = device->threads};
    struct conv_algorithm list[CONV_MOST_ALGORITHMS];
    int count = conv_algorithms(shape, direction, list);
    *out = list[0];
    if (device->own_kernels) {
        *out = list[first_own(list, count)];
        return true;
    }
    key.shape = measured_shape(shape, direction, device->threads);
    if (count == 1 || flops(&key.shape) < SMALL_FLOPS * device->threads)
        return true;
    /* Whatever was measured, or will be; and where the library's values are converted before and
     * after it, which no measurement of its primitives alone knows of. */
    if (device->deterministic || (shape->bf16 && !device->library_bf16)) {
        *out = list[first_own(list, count)];
        return true;
    }
    /* Held while measuring: devices of one run ask the same questions, and one answer serves all.
     */
    pthread_mutex_lock(&table.lock);
    const struct decision *known = find(&key);
    bool ok = true;
    if (known)
        *out = known->algorithm;
    else if (device->estimate)
        *out = guess(&key, list, count);
    else if ((ok = decide(device, &key, list, count, err)))
        *out = key.algorithm;
    pthread_mutex_unlock(&table.lock);
    return ok;
}

bool conv_fuses(const struct builder *b, const struct node *node, enum conv_direction direction,
                bool *yes, struct error *err)
{
    struct conv_shape shape;
    struct conv_algorithm algorithm;
    conv_shape_of(&shape, b->graph, node, b->rows, b->plan->bf16);
    if (!conv_choose(b->device, &shape, direction, &algorithm, err))
        return false;
    *yes = algorithm.kernel && algorithm.kernel->fuses;
    return true;
}
