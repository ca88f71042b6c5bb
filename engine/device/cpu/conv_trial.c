/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv_trial.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "engine/device/pool.h"

#define DECIDED_AFTER  2   /* calm runs */
#define HOPELESS       1.5 /* times another way's */
#define ROUNDS_PER_RUN 2   /* at most, where runs are disturbed */

/* One way over one mapping: a primitive of the library with its arguments, or a pass of our own. */
struct trial {
    const struct conv_method *method;
    struct conv_pass pass;
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

/* Pages that were never written are one page of zeros in every cache; these are like real ones. */
static bool make_memory(struct trial *trial, size_t bytes, struct error *err)
{
    if (!mapping_create(&trial->memory, bytes, "measuring a convolution", err))
        return false;
    float *numbers = trial->memory.data;
    for (size_t i = 0; i < bytes / sizeof *numbers; i++)
        numbers[i] = (float)(i % 1021) * 0.001F - 0.5F;
    return true;
}

static bool make_primitive(struct device *device, const struct conv_shape *shape,
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
    if (!make_memory(trial, total, err) ||
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

/* Offsets of the parts of a pass, in bytes, and their sum. */
struct parts {
    size_t in, out, weights, bias, scratch, total;
};

static struct parts parts_of(const struct conv_shape *s, const struct conv_method *method,
                             int threads)
{
    const size_t number = sizeof(float), in = (size_t)s->in, out = (size_t)s->out;
    struct parts at = {0};
    at.out = memory_round((size_t)s->rows * in * s->in_h * s->in_w * number);
    at.weights = at.out + memory_round((size_t)s->rows * out * s->out_h * s->out_w * number);
    at.bias = at.weights + memory_round(in * out * s->kernel_h * s->kernel_w * number);
    at.scratch = at.bias + memory_round(out * number);
    at.scratch = (at.scratch + CONV_SCRATCH_ALIGN - 1) / CONV_SCRATCH_ALIGN * CONV_SCRATCH_ALIGN;
    at.total = at.scratch + method->scratch(s, threads);
    return at;
}

static bool make_pass(struct device *device, const struct conv_shape *shape,
                      enum conv_direction direction, const struct conv_method *method,
                      struct trial *trial, struct error *err)
{
    const struct parts at = parts_of(shape, method, device->threads);
    if (!make_memory(trial, at.total, err))
        return false;
    char *base = trial->memory.data;
    trial->method = method;
    trial->pass = (struct conv_pass){
        .shape = shape, .threads = device->threads, .scratch = base + at.scratch};
    conv_pass_point(&trial->pass, direction, (float *)(base + at.in), (float *)(base + at.weights),
                    shape->bias ? (float *)(base + at.bias) : NULL, (float *)(base + at.out));
    return true;
}

/* Neither a primitive nor a method: there is no such algorithm. */
static bool trial_make(struct device *device, const struct conv_shape *shape,
                       enum conv_direction direction, struct conv_way way, struct trial *trial,
                       struct error *err)
{
    dnnl_primitive_desc_t desc;
    *trial = (struct trial){0};
    if (way.method)
        return make_pass(device, shape, direction, way.method, trial, err);
    if (conv_describe(device, shape, direction, way.algorithm, false, &desc) != dnnl_success)
        return true;
    bool ok = make_primitive(device, shape, direction, desc, trial, err);
    dnnl_primitive_desc_destroy(desc);
    return ok;
}

static void trial_free(struct trial *trial)
{
    for (int i = 0; i < trial->count; i++)
        dnnl_memory_destroy(trial->args[i].memory);
    dnnl_primitive_destroy(trial->primitive);
    mapping_free(&trial->memory);
}

static bool trial_run(struct device *device, const struct trial *trial, double *seconds,
                      struct error *err)
{
    double start = clock_seconds();
    if (trial->method)
        trial->method->run(&trial->pass);
    else if (!dnnl_check(dnnl_primitive_execute(trial->primitive, device->stream, trial->count,
                                                trial->args),
                         "execution", err))
        return false;
    *seconds = clock_seconds() - start;
    return true;
}

/* How often threads of this process lost their CPU to somebody else. */
static long displaced(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* A run in which a thread lost its CPU tells little; it counts only while there is no better. */
static bool take_turn(struct device *device, const struct trial *trial, struct conv_timing *timing,
                      struct error *err)
{
    double seconds;
    long before = displaced();
    if (!trial_run(device, trial, &seconds, err))
        return false;
    bool calm = displaced() == before, first_calm = calm && timing->calm_runs == 0;
    bool counts = calm || timing->calm_runs == 0;
    if (first_calm || timing->seconds < 0 || (counts && seconds < timing->seconds))
        timing->seconds = seconds;
    timing->calm_runs += calm;
    return true;
}

/* Ways that take this much longer than another after some calm runs have lost. */
static bool is_beaten(const struct conv_timing *timings, int count, int i)
{
    for (int k = 0; k < count; k++)
        if (timings[k].calm_runs >= DECIDED_AFTER && timings[i].calm_runs >= DECIDED_AFTER &&
            timings[i].seconds > HOPELESS * timings[k].seconds)
            return true;
    return false;
}

/* Let every way have its turn, in rounds; stop when those that may win had enough calm ones. */
static bool take_turns(struct device *device, const struct trial *trials, int count, int runs,
                       struct conv_timing *timings, struct error *err)
{
    bool more = true;
    for (int round = 0; more && round < ROUNDS_PER_RUN * runs; round++) {
        more = false;
        for (int i = 0; i < count; i++) {
            if ((!trials[i].method && !trials[i].primitive) || timings[i].calm_runs >= runs ||
                is_beaten(timings, count, i))
                continue;
            more = true;
            if (!take_turn(device, &trials[i], &timings[i], err))
                return false;
        }
    }
    return true;
}

bool conv_measure(struct device *device, const struct conv_shape *shape,
                  enum conv_direction direction, const struct conv_way *ways, int count, int runs,
                  struct conv_timing *timings, struct error *err)
{
    struct trial trials[CONV_WAYS] = {{0}};
    bool ok = true;
    double ignored;
    for (int i = 0; i < count; i++) {
        ok = ok && trial_make(device, shape, direction, ways[i], &trials[i], err);
        timings[i] = (struct conv_timing){.seconds = -1};
    }
    for (int i = 0; ok && i < count; i++)
        if (trials[i].method || trials[i].primitive)
            ok = trial_run(device, &trials[i], &ignored, err);
    ok = ok && take_turns(device, trials, count, runs, timings, err);
    for (int i = 0; i < count; i++)
        trial_free(&trials[i]);
    return ok;
}

static bool library_may_use_winograd(const struct conv_shape *s)
{
    return s->kernel_h == 3 && s->kernel_w == 3 && s->stride_h == 1 && s->stride_w == 1 &&
           s->in_block == 16 && s->out_block == 16;
}

int conv_ways(const struct conv_shape *shape, enum conv_direction direction,
              struct conv_way ways[CONV_WAYS])
{
    int count = 0;
    const struct conv_method *const *method = conv_methods(direction, shape->in_block);
    ways[count++] = (struct conv_way){.algorithm = CONV_DIRECT};
    for (; shape->in_block == shape->out_block && *method && count < CONV_WAYS - 1; method++)
        if ((*method)->fits(shape))
            ways[count++] = (struct conv_way){.method = *method};
    if (library_may_use_winograd(shape))
        ways[count++] = (struct conv_way){.algorithm = CONV_WINOGRAD};
    return count;
}

const char *conv_way_name(struct conv_way way)
{
    if (way.method)
        return way.method->name;
    return way.algorithm == CONV_WINOGRAD ? "library's winograd" : "direct";
}
