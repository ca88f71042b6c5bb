/* SPDX-License-Identifier: MIT */
#include "engine/weights/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"

bool weights_create(const struct net *net, struct weights *out, struct error *err)
{
    *out = (struct weights){.values = calloc(net->value_count + 1, sizeof *out->values)};
    return out->values || error_memory(err, "weights");
}

void weights_copy(const struct net *net, struct weights *to, const struct weights *from)
{
    memcpy(to->values, from->values, net->value_count * sizeof *to->values);
    to->batches_tracked = from->batches_tracked;
}

void weights_free(struct weights *weights)
{
    free(weights->values);
    *weights = (struct weights){0};
}

/* Pages that belong to the numbers alone; where the system does not take them they just stay. */
void weights_release_pages(const struct net *net, struct weights *weights)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)weights->values;
    const uintptr_t from = (first + page - 1) / page * page;
    const uintptr_t to = (uintptr_t)(weights->values + net->value_count) / page * page;
    if (from < to)
        (void)madvise((char *)weights->values + (from - first), to - from, MADV_DONTNEED);
}

static void fill(const struct net_param *param, float *values, float value)
{
    for (size_t i = 0; i < param->count; i++)
        values[i] = value;
}

static void fill_normal(const struct net_param *param, float *values,
                        const struct rng_stream *stream, double std)
{
    for (size_t i = 0; i < param->count; i++)
        values[i] = (float)(std * rng_normal(stream, i));
}

/* U(-bound, bound) */
static void fill_uniform(const struct net_param *param, float *values,
                         const struct rng_stream *stream, double bound)
{
    for (size_t i = 0; i < param->count; i++)
        values[i] = (float)(bound * (2 * rng_uniform(stream, i) - 1));
}

/* How far rules with no scale of their own spread the numbers: that of a fan of 1. */
static const struct spread {
    bool normal; /* a standard deviation, else a bound */
    bool by_both_fans;
    double of_one;
} spreads[] = {
    [INIT_XAVIER_UNIFORM] = {false, true, 2.449489742783178},   /* sqrt(6) */
    [INIT_XAVIER_NORMAL] = {true, true, 1.4142135623730951},    /* sqrt(2) */
    [INIT_KAIMING_UNIFORM] = {false, false, 2.449489742783178}, /* sqrt(6) */
    [INIT_KAIMING_NORMAL] = {true, false, 1.4142135623730951},  /* sqrt(2) */
    [INIT_PYTORCH] = {false, false, 1},
};

static void fill_weight(const struct net_param *param, float *values,
                        const struct rng_stream *stream, enum init_rule rule, double scale)
{
    const struct spread *s = &spreads[rule];
    const double fan_out = (double)param->count / param->dims[1];
    const double fan = param->fan_in + (s->by_both_fans ? fan_out : 0);
    const double width = rule <= INIT_UNIFORM ? scale : s->of_one / sqrt(fan);
    if (rule == INIT_NORMAL || s->normal)
        fill_normal(param, values, stream, width);
    else
        fill_uniform(param, values, stream, width);
}

void weights_init(const struct net *net, struct weights *weights, enum init_rule rule, double scale,
                  uint64_t seed)
{
    weights->batches_tracked = 0;
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *param = &net->params[i];
        float *values = weights->values + param->offset;
        struct rng_stream stream = rng_stream(seed, RNG_INIT, (uint32_t)i, 0, 0);
        switch (param->role) {
        case NET_WEIGHT:
            fill_weight(param, values, &stream, rule, scale);
            break;
        case NET_BIAS:
            fill_uniform(param, values, &stream, 1 / sqrt(param->fan_in));
            break;
        case NET_BN_WEIGHT:
        case NET_RUNNING_VAR:
            fill(param, values, 1);
            break;
        case NET_BN_BIAS:
        case NET_RUNNING_MEAN:
            fill(param, values, 0);
            break;
        }
    }
}
