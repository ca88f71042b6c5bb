/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/device/cuda/dnn/conv/reference.h"
#include "engine/device/cuda/dnn/conv/table.h"
#include "engine/device/cuda/layers/conv_plans.h"
#include "engine/device/cuda/machine.h"
#include "engine/device/cuda/runtime/wait.h"
#include "engine/model/file.h"
#include "tests/engine/device/cuda/dnn/conv_cases.h"
#include "tests/gpu/probe.h"

/* This many numbers of a result are recomputed; of filters, whose sums go over all rows. */
#define SAMPLES        256
#define SAMPLES_FILTER 32

/* One plan, its tensors here and on the device. */
struct trial {
    const struct probe *probe;
    struct device *device;
    struct conv_request request;
    const struct conv_plan *plan; /* the device's */
    float *host[CONV_ROLES];
    void *memory[CONV_ROLES], *workspace;
    double worst; /* the largest error, as a part of what is allowed */
    char text[256];
};

static bool narrow(const struct trial *t, enum conv_role role)
{
    return conv_role_type(&t->request, role) == CUDA_BF16;
}

static float widened(uint16_t bf16)
{
    const uint32_t bits = (uint32_t)bf16 << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Numbers in [-1, 1) that bf16 holds, the same each time (xorshift, Marsaglia 2003). */
static void fill(float *numbers, uint16_t *halves, size_t count, uint32_t seed)
{
    uint32_t x = seed;
    for (size_t i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        numbers[i] = (float)((int)(x >> 24) - 128) / 128;
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        halves[i] = (uint16_t)(bits >> 16);
    }
}

/* What is written is NaN until then. */
static bool make_tensor(struct trial *t, enum conv_role role, struct error *err)
{
    const size_t count = conv_role_count(&t->request, role);
    const size_t bytes = conv_role_bytes(&t->request, role);
    float *numbers = t->host[role] = malloc(count * sizeof *numbers);
    uint16_t *halves = malloc(count * sizeof *halves);
    bool ok = numbers && halves;
    if (!ok)
        error_memory(err, "a tensor");
    ok = ok && cuda_check(cudaMalloc(&t->memory[role], bytes), "memory", err);
    if (ok && conv_role_written(&t->request, role)) {
        ok = cuda_check(cudaMemsetAsync(t->memory[role], 0xFF, bytes, t->device->stream), "NaN",
                        err);
    } else if (ok) {
        fill(numbers, halves, count, 7 + (uint32_t)role);
        ok = cuda_check(cudaMemcpyAsync(t->memory[role],
                                        narrow(t, role) ? (void *)halves : (void *)numbers, bytes,
                                        cudaMemcpyHostToDevice, t->device->stream),
                        "copying", err);
    }
    ok = ok && cuda_wait(t->device, t->device->stream, "a tensor", err);
    free(halves);
    return ok;
}

static bool make(struct trial *t, struct error *err)
{
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(&t->request, role) && !make_tensor(t, role, err))
            return false;
    const size_t bytes = conv_plan_workspace(t->plan);
    return bytes == 0 || (cuda_check(cudaMalloc(&t->workspace, bytes), "memory", err) &&
                          cuda_check(cudaMemset(t->workspace, 0xFF, bytes), "NaN", err));
}

static void release(struct trial *t)
{
    conv_table_give(t->device->convs, t->plan);
    for (int role = CONV_X; role < CONV_ROLES; role++) {
        free(t->host[role]);
        (void)cudaFree(t->memory[role]);
    }
    (void)cudaFree(t->workspace);
}

static bool run(struct trial *t, struct error *err)
{
    const struct conv_tensors tensors = {.x = t->memory[CONV_X],
                                         .w = t->memory[CONV_W],
                                         .y = t->memory[CONV_Y],
                                         .sums = t->memory[CONV_SUMS],
                                         .squares = t->memory[CONV_SQUARES]};
    return conv_plan_run(t->plan, t->device->dnn, &tensors, t->workspace, err) &&
           cuda_wait(t->device, t->device->stream, "a convolution", err);
}

/* A result into its place on the host. */
static bool fetch(struct trial *t, enum conv_role role, struct error *err)
{
    const size_t count = conv_role_count(&t->request, role);
    const size_t bytes = conv_role_bytes(&t->request, role);
    void *copy = malloc(bytes);
    if (!copy)
        return error_memory(err, "a result");
    const bool ok = cuda_check(cudaMemcpyAsync(copy, t->memory[role], bytes, cudaMemcpyDeviceToHost,
                                               t->device->stream),
                               "copying", err) &&
                    cuda_wait(t->device, t->device->stream, "a result", err);
    for (size_t i = 0; ok && i < count; i++)
        t->host[role][i] = narrow(t, role) ? widened(((uint16_t *)copy)[i]) : ((float *)copy)[i];
    free(copy);
    return ok;
}

/* False, with a line, when a number is further away than `allowed`, or none. */
static bool near(struct trial *t, enum conv_role role, size_t at, double want, double allowed)
{
    const double got = (double)t->host[role][at], error = fabs(got - want);
    if (error <= allowed) {
        t->worst = fmax(t->worst, allowed > 0 ? error / allowed : 0);
        return true;
    }
    probe_fail(t->probe, "%s by %s: %s[%zu] is %.9g, not %.9g", t->text, conv_plan_name(t->plan),
               conv_role_name(role), at, got, want);
    return false;
}

/* Numbers all over a result, against plain loops. Tensor cores add in f32, in any order, and cut
 * where they align: a part of 2^-13 of all that was added is generous, and far below the sum of as
 * many terms of either sign. None may be NaN: not written. */
static bool sampled(struct trial *t, enum conv_role role)
{
    const size_t count = conv_role_count(&t->request, role);
    const size_t samples = role == CONV_W ? SAMPLES_FILTER : SAMPLES;
    struct conv_inputs inputs = {.period = SIZE_MAX};
    for (int input = CONV_X; input < CONV_ROLES; input++)
        inputs.numbers[input] = t->host[input];
    for (size_t i = 0; i < count; i++)
        if (isnan(t->host[role][i])) {
            probe_fail(t->probe, "%s by %s: %s[%zu] is not written", t->text,
                       conv_plan_name(t->plan), conv_role_name(role), i);
            return false;
        }
    for (size_t i = 0; i < samples; i++) {
        const size_t at = (i * 2654435761u + count - 1) % count;
        const struct conv_sum want = conv_reference(&t->request, &inputs, role, at);
        const double store = narrow(t, role) ? 0x1p-8 : 1e-6;
        if (!near(t, role, at, want.value, 0x1p-13 * want.magnitude + store * fabs(want.value)))
            return false;
    }
    return true;
}

/* Sums over y as it was stored; they were made of it before it was rounded to 2^-9 of each. */
static bool sums_agree(struct trial *t)
{
    const size_t channels = (size_t)t->request.out, count = conv_role_count(&t->request, CONV_Y);
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, square = 0, magnitude = 0;
        for (size_t at = c; at < count; at += channels) {
            const double y = (double)t->host[CONV_Y][at];
            sum += y;
            square += y * y;
            magnitude += fabs(y);
        }
        if (!near(t, CONV_SUMS, c, sum, 0x1p-8 * magnitude) ||
            !near(t, CONV_SQUARES, c, square, 0x1p-7 * square))
            return false;
    }
    return true;
}

static bool compare(struct trial *t, struct error *err)
{
    const bool sums = t->request.pattern == CONV_FORWARD_STATS;
    const enum conv_role role = t->request.pattern == CONV_DATA      ? CONV_X
                                : t->request.pattern == CONV_WEIGHTS ? CONV_W
                                                                     : CONV_Y;
    if (!fetch(t, role, err) ||
        (sums && (!fetch(t, CONV_SUMS, err) || !fetch(t, CONV_SQUARES, err))))
        return false;
    if (sampled(t, role) && (!sums || sums_agree(t)))
        return true;
    return error_set(err, ERROR_FAILED, "%s: the result is wrong", t->text);
}

/* Numbers of failures: a plan that cannot be made is one where no other could take its place. */
static int try_plan(struct trial *t)
{
    struct error err = ERROR_INIT;
    struct plan plan = {.device = t->device};
    const double begin = clock_seconds();
    conv_request_text(&t->request, t->text, sizeof t->text);
    if (!cuda_conv_plan(&plan, &t->request, &t->plan, &err)) {
        if (t->request.pattern != CONV_FORWARD_STATS)
            return probe_fail(t->probe, "%s", err.text);
        probe_say(t->probe, "%s: not offered: %s", t->text, err.text);
        return 0;
    }
    const double made = clock_seconds() - begin;
    const bool ok =
        make(t, &err) && run(t, &err) && compare(t, &err) && run(t, &err) && compare(t, &err);
    if (ok)
        probe_say(t->probe, "%s: ok, %s, %.1f us, made in %.2f s, error %.2f of what is allowed",
                  t->text, conv_plan_name(t->plan), conv_plan_seconds(t->plan) * 1e6, made,
                  t->worst);
    else
        probe_fail(t->probe, "%s", err.text);
    if (*plan.note)
        probe_say(t->probe, "note: %s", plan.note);
    return !ok;
}

/* Whether an operation in front asks for the same. */
static bool is_repeated(const struct net *net, int op, const char *text)
{
    char other[256];
    for (int i = 0; i < op; i++) {
        if (net->ops[i].kind != NET_CONV)
            continue;
        const struct conv_request request = conv_case_request(net, &net->ops[i]);
        if (strcmp(text, conv_request_text(&request, other, sizeof other)) == 0)
            return true;
    }
    return false;
}

/* Whether a direction of an operation is asked for: nobody wants the gradient of the network's
 * input, and only a BatchNorm wants sums. */
static bool is_wanted(const struct net *net, int op, enum conv_pattern pattern)
{
    bool normed = false;
    for (int i = op + 1; i < net->op_count; i++)
        normed |= net->ops[i].kind == NET_BATCHNORM && net->ops[i].inputs[0] == net->ops[op].output;
    return pattern == CONV_DATA            ? net->ops[op].inputs[0] != 0
           : pattern == CONV_FORWARD_STATS ? normed
                                           : true;
}

static int try_net(const struct probe *probe, struct device *device, const struct net *net)
{
    static const enum conv_pattern patterns[] = {CONV_FORWARD, CONV_FORWARD_STATS, CONV_WEIGHTS,
                                                 CONV_DATA};
    char text[256];
    int failed = 0, count = 0;
    for (int i = 0; i < net->op_count; i++) {
        if (net->ops[i].kind != NET_CONV)
            continue;
        struct conv_request request = conv_case_request(net, &net->ops[i]);
        if (is_repeated(net, i, conv_request_text(&request, text, sizeof text)))
            continue;
        for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
            if (!is_wanted(net, i, patterns[p]))
                continue;
            struct trial t = {.probe = probe, .device = device, .request = request};
            t.request.pattern = patterns[p];
            t.request.type = probe->type;
            t.request.rows = probe->rows;
            failed += try_plan(&t);
            count++;
            release(&t);
        }
    }
    probe_say(probe, "convolutions: %d plans of %d are wrong", failed, count);
    return failed;
}

int probe_convolutions(const struct probe *probe)
{
    const struct device_options options = {.id = {DEVICE_CUDA, 0}, .type = probe->type};
    struct error err = ERROR_INIT;
    struct net *net = NULL;
    struct device *device = NULL;
    int failed;
    if (net_load(probe->model, probe->input, 10, &net, &err) && cuda_open(&options, &device, &err))
        failed = try_net(probe, device, net);
    else
        failed = probe_fail(probe, "%s", err.text);
    if (device) {
        probe_loaded(probe);
        cuda_close(device);
    }
    net_free(net);
    return failed;
}
