/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/autotune/measure.h"

#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "engine/device/cpu/core/number.h"
#include "engine/device/plan/memory_pool.h"

#define DECIDED_AFTER  2   /* calm runs */
#define HOPELESS       1.5 /* times another algorithm's seconds */
#define ROUNDS_PER_RUN 2   /* at most, where runs are disturbed */
#define TOO_BUSY       4   /* rounds without a calm run of some algorithm */

/* An algorithm to measure: a primitive of the library with its arguments, or a pass of a kernel of
 * ours. */
struct candidate {
    const struct conv_kernel *kernel;
    struct conv_pass pass;
    dnnl_primitive_desc_t desc; /* NULL: there is no such algorithm, or it is a kernel */
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[5];
    int count;
    /* Where the library wants another layout: reorders the stored weights, or their gradient back,
     * in each pass. NULL: not needed. */
    dnnl_primitive_t reorder;
    dnnl_exec_arg_t moved[2];
};

/* What is measured. All algorithms use the same memory: the values of a convolution may be large.
 */
struct bench {
    struct device *device;
    const struct conv_shape *shape;
    enum conv_direction direction;
    desc_t stored; /* weights */
    struct mapping memory;
    size_t in, out, weights, bias, rest; /* offsets; the rest is the algorithm's */
};

static void place(struct bench *b)
{
    const struct conv_shape *s = b->shape;
    const size_t number = number_size(s->bf16), in = (size_t)s->in, out = (size_t)s->out;
    b->in = 0;
    b->out = memory_round((size_t)s->rows * in * s->in_h * s->in_w * number);
    b->weights = b->out + memory_round((size_t)s->rows * out * s->out_h * s->out_w * number);
    b->bias = b->weights + memory_round(in * out * s->kernel_h * s->kernel_w * sizeof(float));
    b->rest = b->bias + memory_round(out * sizeof(float));
    b->rest = (b->rest + CONV_SCRATCH_ALIGN - 1) / CONV_SCRATCH_ALIGN * CONV_SCRATCH_ALIGN;
}

static desc_t layout_of(const struct candidate *candidate, dnnl_query_t query, int index)
{
    return dnnl_primitive_desc_query_md(candidate->desc, query, index);
}

/* The library's own layout of the weights; NULL: the stored one. */
static desc_t other_weights(const struct bench *b, const struct candidate *candidate)
{
    desc_t wanted = layout_of(candidate, conv_arguments(b->direction)->weights.query, 0);
    return dnnl_memory_desc_equal(wanted, b->stored) ? NULL : wanted;
}

static size_t bytes_of(desc_t layout)
{
    return layout ? memory_round(dnnl_memory_desc_get_size(layout)) : 0;
}

/* Of the rest, in bytes. */
static size_t candidate_bytes(const struct bench *b, const struct candidate *candidate)
{
    if (candidate->kernel)
        return candidate->kernel->scratch(b->shape, b->direction, b->device->threads);
    if (!candidate->desc)
        return 0;
    return bytes_of(other_weights(b, candidate)) +
           bytes_of(layout_of(candidate, dnnl_query_scratchpad_md, 0));
}

static bool make_argument(const struct bench *b, int arg, desc_t layout, size_t at,
                          dnnl_exec_arg_t *out, struct error *err)
{
    out->arg = arg;
    return dnnl_check(
        dnnl_memory_create(&out->memory, layout, b->device->engine, (char *)b->memory.data + at),
        "memory object", err);
}

static bool add_argument(const struct bench *b, struct candidate *candidate, int arg, desc_t layout,
                         size_t at, struct error *err)
{
    if (!layout || dnnl_memory_desc_get_size(layout) == 0)
        return true;
    if (!make_argument(b, arg, layout, at, &candidate->args[candidate->count], err))
        return false;
    candidate->count++;
    return true;
}

static bool add_bias(const struct bench *b, struct candidate *candidate, struct error *err)
{
    const struct conv_arguments *a = conv_arguments(b->direction);
    return !b->shape->bias || b->direction == CONV_BACKWARD_DATA ||
           add_argument(b, candidate, a->bias, layout_of(candidate, a->weights.query, 1), b->bias,
                        err);
}

static bool make_reorder(const struct bench *b, struct candidate *candidate, desc_t other,
                         struct error *err)
{
    const bool gradient = b->direction == CONV_BACKWARD_WEIGHTS;
    const desc_t from = gradient ? other : b->stored, to = gradient ? b->stored : other;
    dnnl_primitive_desc_t desc;
    if (!make_argument(b, DNNL_ARG_FROM, from, gradient ? b->rest : b->weights,
                       &candidate->moved[0], err) ||
        !make_argument(b, DNNL_ARG_TO, to, gradient ? b->weights : b->rest, &candidate->moved[1],
                       err) ||
        !dnnl_check(dnnl_reorder_primitive_desc_create(&desc, from, b->device->engine, to,
                                                       b->device->engine, NULL),
                    "reorder", err))
        return false;
    const dnnl_status_t status = dnnl_primitive_create(&candidate->reorder, desc);
    dnnl_primitive_desc_destroy(desc);
    return dnnl_check(status, "reorder", err);
}

static bool make_primitive(const struct bench *b, struct candidate *candidate, struct error *err)
{
    const struct conv_arguments *a = conv_arguments(b->direction);
    const desc_t other = other_weights(b, candidate);
    return dnnl_check(dnnl_primitive_create(&candidate->primitive, candidate->desc), "primitive",
                      err) &&
           add_argument(b, candidate, a->src.arg, layout_of(candidate, a->src.query, 0), b->in,
                        err) &&
           add_argument(b, candidate, a->weights.arg, other ? other : b->stored,
                        other ? b->rest : b->weights, err) &&
           add_argument(b, candidate, a->dst.arg, layout_of(candidate, a->dst.query, 0), b->out,
                        err) &&
           add_argument(b, candidate, DNNL_ARG_SCRATCHPAD,
                        layout_of(candidate, dnnl_query_scratchpad_md, 0),
                        b->rest + bytes_of(other), err) &&
           add_bias(b, candidate, err) && (!other || make_reorder(b, candidate, other, err));
}

static void make_pass(const struct bench *b, struct candidate *candidate)
{
    char *base = b->memory.data;
    candidate->pass = (struct conv_pass){
        .shape = b->shape, .threads = b->device->threads, .scratch = base + b->rest};
    conv_pass_point(&candidate->pass, b->direction, base + b->in, (float *)(base + b->weights),
                    b->shape->bias ? (float *)(base + b->bias) : NULL, base + b->out);
}

static bool can_run(const struct candidate *candidate)
{
    return candidate->kernel || candidate->desc;
}

/* Pages that were never written all map to one page of zeros, which every cache holds: write. Each
 * half of a number is one of bf16 itself, about equal to it, as random halves would be all sorts of
 * numbers, of which some are slow. */
static bool make_memory(struct bench *b, size_t bytes, struct error *err)
{
    enum { PERIOD = 1021 };
    if (!mapping_create(&b->memory, bytes, "measuring a convolution", err))
        return false;
    uint32_t *numbers = b->memory.data;
    const size_t count = bytes / sizeof *numbers;
    for (size_t i = 0; i < count && i < PERIOD; i++)
        numbers[i] = bf16_round((float)i * 0.001F - 0.5F) * 0x10001U;
    for (size_t i = PERIOD; i < count; i += PERIOD)
        memcpy(numbers + i, numbers, sizeof *numbers * (count - i < PERIOD ? count - i : PERIOD));
    return true;
}

static bool make_candidates(struct bench *b, const struct conv_algorithm *list,
                            struct candidate *candidates, int count, struct error *err)
{
    size_t most = 0;
    for (int i = 0; i < count; i++) {
        candidates[i].kernel = list[i].kernel;
        if (!list[i].kernel && conv_describe(b->device, b->shape, b->direction, list[i].library,
                                             false, &candidates[i].desc) != dnnl_success)
            candidates[i].desc = NULL;
        const size_t bytes = candidate_bytes(b, &candidates[i]);
        most = bytes > most ? bytes : most;
    }
    if (!make_memory(b, b->rest + most, err))
        return false;
    for (int i = 0; i < count; i++) {
        if (candidates[i].kernel)
            make_pass(b, &candidates[i]);
        else if (candidates[i].desc && !make_primitive(b, &candidates[i], err))
            return false;
    }
    return true;
}

static void candidate_free(struct candidate *candidate)
{
    for (int i = 0; i < candidate->count; i++)
        dnnl_memory_destroy(candidate->args[i].memory);
    for (int i = 0; i < 2; i++)
        dnnl_memory_destroy(candidate->moved[i].memory);
    dnnl_primitive_destroy(candidate->reorder);
    dnnl_primitive_destroy(candidate->primitive);
    dnnl_primitive_desc_destroy(candidate->desc);
}

static bool execute(const struct bench *b, dnnl_primitive_t primitive, int count,
                    const dnnl_exec_arg_t *args, struct error *err)
{
    return !primitive ||
           dnnl_check(dnnl_primitive_execute(primitive, b->device->stream, count, args),
                      "execution", err);
}

static bool run_library(const struct bench *b, const struct candidate *candidate, struct error *err)
{
    const bool gradient = b->direction == CONV_BACKWARD_WEIGHTS;
    return (gradient || execute(b, candidate->reorder, 2, candidate->moved, err)) &&
           execute(b, candidate->primitive, candidate->count, candidate->args, err) &&
           (!gradient || execute(b, candidate->reorder, 2, candidate->moved, err));
}

static bool candidate_run(const struct bench *b, const struct candidate *candidate, double *seconds,
                          struct error *err)
{
    double start = clock_seconds();
    if (candidate->kernel)
        candidate->kernel->run(&candidate->pass);
    else if (!run_library(b, candidate, err))
        return false;
    *seconds = clock_seconds() - start;
    return true;
}

/* How often threads of this process lost their CPU to another process. */
static long displaced(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* A run in which a thread lost its CPU says little; it counts only until there is a calm one. */
static bool take_turn(const struct bench *b, const struct candidate *candidate,
                      struct conv_timing *timing, struct error *err)
{
    double seconds;
    long before = displaced();
    if (!candidate_run(b, candidate, &seconds, err))
        return false;
    bool calm = displaced() == before, first_calm = calm && timing->calm_runs == 0;
    bool counts = calm || timing->calm_runs == 0;
    if (first_calm || timing->seconds < 0 || (counts && seconds < timing->seconds))
        timing->seconds = seconds;
    timing->calm_runs += calm;
    return true;
}

/* Whether this one is so much slower than another that it needs no more runs. */
static bool is_beaten(const struct conv_timing *timings, int count, int i)
{
    for (int k = 0; k < count; k++)
        if (timings[k].calm_runs >= DECIDED_AFTER && timings[i].calm_runs >= DECIDED_AFTER &&
            timings[i].seconds > HOPELESS * timings[k].seconds)
            return true;
    return false;
}

/* Whether it needs no more runs because all others are beaten or cannot run. */
static bool has_won(const struct candidate *candidates, const struct conv_timing *timings,
                    int count, int i)
{
    for (int k = 0; k < count; k++)
        if (k != i && can_run(&candidates[k]) && !is_beaten(timings, count, k))
            return false;
    return timings[i].calm_runs >= DECIDED_AFTER;
}

/* Whether all runs of some algorithm were disturbed. */
static bool never_calm(const struct candidate *candidates, const struct conv_timing *timings,
                       int count)
{
    for (int i = 0; i < count; i++)
        if (can_run(&candidates[i]) && timings[i].calm_runs == 0)
            return true;
    return false;
}

/* In rounds, until all candidates that may still win have had enough calm runs, or the machine
 * turns out too busy: no decision rests on a measurement in which one never had a calm run. */
static bool take_turns(const struct bench *b, const struct candidate *candidates, int count,
                       int runs, struct conv_timing *timings, struct error *err)
{
    bool more = true;
    for (int round = 0; more && round < ROUNDS_PER_RUN * runs; round++) {
        if (round == TOO_BUSY && never_calm(candidates, timings, count))
            break;
        more = false;
        for (int i = 0; i < count; i++) {
            if (!can_run(&candidates[i]) || timings[i].calm_runs >= runs ||
                is_beaten(timings, count, i) || has_won(candidates, timings, count, i))
                continue;
            more = true;
            if (!take_turn(b, &candidates[i], &timings[i], err))
                return false;
        }
    }
    return true;
}

bool conv_measure(struct device *device, const struct conv_shape *shape,
                  enum conv_direction direction, const struct conv_algorithm *list, int count,
                  int runs, struct conv_timing *timings, struct error *err)
{
    struct candidate candidates[CONV_MOST_ALGORITHMS] = {{0}};
    struct bench bench = {.device = device,
                          .shape = shape,
                          .direction = direction,
                          .stored = conv_weights_desc(shape)};
    double ignored;
    for (int i = 0; i < count; i++)
        timings[i] = (struct conv_timing){.seconds = -1};
    if (!bench.stored)
        return error_memory(err, "layout of weights");
    place(&bench);
    bool ok = make_candidates(&bench, list, candidates, count, err);
    for (int i = 0; ok && i < count; i++)
        ok = !can_run(&candidates[i]) || candidate_run(&bench, &candidates[i], &ignored, err);
    ok = ok && take_turns(&bench, candidates, count, runs, timings, err);
    for (int i = 0; i < count; i++)
        candidate_free(&candidates[i]);
    mapping_free(&bench.memory);
    compat_desc_free(bench.stored);
    return ok;
}
