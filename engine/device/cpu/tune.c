/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv.h"
#include "engine/device/pool.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"

/*
 * Which algorithm a convolution uses. Winograd's F(4x4,3x3) needs 2.25 to 4 times fewer
 * multiplications, but more memory traffic; which one wins depends on the shape and the processor,
 * so it is measured: once per shape, direction and team size, on a few rows per thread.
 *
 * The two round differently. So that a run repeats bit for bit, and equal devices compute equally,
 * decisions are kept for the life of the process, shared by all devices, and Winograd must win
 * clearly. Small work, where a measurement would be all noise, always goes direct.
 */

#define ROWS_PER_THREAD 32
#define SMALL_FLOPS     2e7 /* per thread */
#define CLEARLY         0.9
#define TIMED_RUNS      3

struct decision {
    struct conv_shape shape; /* with the rows that were measured */
    enum conv_direction direction;
    int threads;
    enum conv_algorithm algorithm;
};

/* The one table of the process: measurements of the machine, not state of any device. */
static struct {
    pthread_mutex_t lock;
    struct decision *list;
    int count, capacity;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool may_use_winograd(const struct conv_shape *s)
{
    return s->kernel_h == 3 && s->kernel_w == 3 && s->stride_h == 1 && s->stride_w == 1 &&
           s->in_block == 16 && s->out_block == 16;
}

static double flops(const struct conv_shape *s)
{
    return 2.0 * s->rows * s->out * s->out_h * s->out_w * s->in * s->kernel_h * s->kernel_w;
}

/* The arguments of one measured primitive, over one mapping. */
struct trial {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[5];
    int count;
    struct mapping memory;
};

struct argument {
    int arg;
    dnnl_query_t query;
};

static int trial_arguments(const struct conv_shape *shape, enum conv_direction direction,
                           struct argument list[5])
{
    struct conv_queries q = conv_queries(direction);
    bool weights = direction == CONV_BACKWARD_WEIGHTS;
    int count = 0;
    list[count++] = (struct argument){
        direction == CONV_BACKWARD_DATA ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, q.src};
    list[count++] =
        (struct argument){weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, q.weights};
    list[count++] =
        (struct argument){direction == CONV_FORWARD ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, q.dst};
    list[count++] = (struct argument){DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md};
    if (shape->bias && direction == CONV_FORWARD)
        list[count++] = (struct argument){DNNL_ARG_BIAS, dnnl_query_weights_md};
    else if (shape->bias && weights)
        list[count++] = (struct argument){DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md};
    return count;
}

static bool trial_make(struct device *device, const struct conv_shape *shape,
                       enum conv_direction direction, dnnl_primitive_desc_t desc,
                       struct trial *trial, struct error *err)
{
    struct argument list[5];
    desc_t layout[5];
    size_t offset[5], total = 0;
    int count = trial_arguments(shape, direction, list);
    for (int i = 0; i < count; i++) {
        /* index 0 is the weights, 1 the bias */
        bool bias = list[i].arg == DNNL_ARG_BIAS || list[i].arg == DNNL_ARG_DIFF_BIAS;
        layout[i] = dnnl_primitive_desc_query_md(desc, list[i].query, bias);
        offset[i] = total;
        total += memory_round(layout[i] ? dnnl_memory_desc_get_size(layout[i]) : 0);
    }
    if (!mapping_create(&trial->memory, total, "measuring a convolution", err) ||
        !dnnl_check(dnnl_primitive_create(&trial->primitive, desc), "primitive", err))
        return false;
    for (int i = 0; i < count; i++) {
        dnnl_memory_t memory;
        if (!layout[i] || dnnl_memory_desc_get_size(layout[i]) == 0)
            continue;
        if (!dnnl_check(dnnl_memory_create(&memory, layout[i], device->engine,
                                           (char *)trial->memory.data + offset[i]),
                        "memory object", err))
            return false;
        trial->args[trial->count++] = (dnnl_exec_arg_t){list[i].arg, memory};
    }
    return true;
}

static void trial_free(struct trial *trial)
{
    for (int i = 0; i < trial->count; i++)
        dnnl_memory_destroy(trial->args[i].memory);
    dnnl_primitive_destroy(trial->primitive);
    mapping_free(&trial->memory);
}

/* *seconds: the quickest of some runs behind one that warms up; -1 where there is no such
 * algorithm. */
static bool measure(struct device *device, const struct conv_shape *shape,
                    enum conv_direction direction, enum conv_algorithm algorithm, double *seconds,
                    struct error *err)
{
    dnnl_primitive_desc_t desc;
    struct trial trial = {0};
    *seconds = -1;
    if (conv_describe(device, shape, direction, algorithm, false, &desc) != dnnl_success)
        return true;
    bool ok = trial_make(device, shape, direction, desc, &trial, err);
    for (int i = 0; ok && i <= TIMED_RUNS; i++) {
        double start = clock_seconds();
        ok = dnnl_check(
            dnnl_primitive_execute(trial.primitive, device->stream, trial.count, trial.args),
            "execution", err);
        double taken = clock_seconds() - start;
        if (i > 0 && (*seconds < 0 || taken < *seconds))
            *seconds = taken;
    }
    trial_free(&trial);
    dnnl_primitive_desc_destroy(desc);
    return ok;
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

static bool decide(struct device *device, struct decision *decision, struct error *err)
{
    double direct, winograd;
    if (!measure(device, &decision->shape, decision->direction, CONV_WINOGRAD, &winograd, err))
        return false;
    decision->algorithm = CONV_DIRECT;
    if (winograd >= 0) {
        if (!measure(device, &decision->shape, decision->direction, CONV_DIRECT, &direct, err))
            return false;
        if (direct < 0 || winograd < CLEARLY * direct)
            decision->algorithm = CONV_WINOGRAD;
    }
    return remember(decision, err);
}

bool conv_choose(struct device *device, const struct conv_shape *shape,
                 enum conv_direction direction, enum conv_algorithm *out, struct error *err)
{
    struct decision key = {.shape = *shape, .direction = direction, .threads = device->threads};
    int rows = ROWS_PER_THREAD * device->threads;
    *out = CONV_DIRECT;
    if (key.shape.rows > rows)
        key.shape.rows = rows;
    if (!may_use_winograd(shape) || flops(&key.shape) < SMALL_FLOPS * device->threads)
        return true;
    /* Held while measuring: devices of one run ask the same questions, and one answer serves all.
     */
    pthread_mutex_lock(&table.lock);
    const struct decision *known = find(&key);
    bool ok = true;
    if (known)
        *out = known->algorithm;
    else if ((ok = decide(device, &key, err)))
        *out = key.algorithm;
    pthread_mutex_unlock(&table.lock);
    return ok;
}
