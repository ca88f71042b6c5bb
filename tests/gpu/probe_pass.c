/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/backends/registry.h"
#include "engine/device/cuda/pass/plan.h"
#include "engine/device/cuda/runtime/wait.h"
#include "engine/model/file.h"
#include "tests/gpu/probe.h"

/* Training passes over made rows. */

struct training {
    const struct probe *probe;
    const struct backend *backend;
    struct net *net;
    struct weights weights;
    struct dataset data;
    uint32_t *index;
    struct device *device;
    struct replica *replica;
    struct plan *plan;
};

/* As many rows as a batch has, noise with labels in turn. */
static bool make_rows(struct training *t, struct error *err)
{
    const struct net_shape in = t->net->input;
    const size_t rows = (size_t)t->probe->rows, pixels = rows * net_shape_size(in);
    t->data = (struct dataset){.rows = t->probe->rows,
                               .channels = in.c,
                               .height = in.h,
                               .width = in.w,
                               .classes = t->net->classes,
                               .pixels = malloc(pixels),
                               .labels = malloc(rows)};
    t->index = malloc(rows * sizeof *t->index);
    if (!t->data.pixels || !t->data.labels || !t->index)
        return error_memory(err, "rows");
    for (size_t i = 0; i < pixels; i++)
        t->data.pixels[i] = (uint8_t)((i * 2654435761u) >> 13);
    for (size_t i = 0; i < rows; i++) {
        t->data.labels[i] = (uint8_t)(i % (size_t)t->net->classes);
        t->index[i] = (uint32_t)i;
    }
    return true;
}

static bool make(struct training *t, struct error *err)
{
    const char *why = "";
    const struct device_options options = {.id = {DEVICE_CUDA, 0}, .type = t->probe->type};
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = t->probe->rows};
    const struct replica_request states = {.states = 1};
    t->backend = backend_find(DEVICE_CUDA, &why);
    if (!t->backend)
        return error_set(err, ERROR_FAILED, "%s", why);
    if (!net_load(t->probe->model, t->probe->input, 10, &t->net, err) ||
        !weights_create(t->net, &t->weights, err))
        return false;
    weights_init(t->net, &t->weights, INIT_PYTORCH, 0, 1);
    const double begin = clock_seconds();
    const bool ok = make_rows(t, err) && t->backend->open(&options, &t->device, err) &&
                    t->backend->replica_create(t->device, t->net, &states, &t->replica, err) &&
                    replica_import(t->backend, t->device, t->replica, &t->weights, err) &&
                    t->backend->plan_create(t->device, t->replica, &request, &t->plan, err);
    if (ok)
        probe_say(t->probe, "%s, %d rows: planned in %.2f s", t->net->name, t->probe->rows,
                  clock_seconds() - begin);
    return ok;
}

static void release(struct training *t)
{
    if (t->plan)
        t->backend->plan_destroy(t->device, t->plan);
    if (t->replica)
        t->backend->replica_destroy(t->device, t->replica);
    if (t->device)
        t->backend->close(t->device);
    weights_free(&t->weights);
    net_free(t->net);
    free(t->data.pixels);
    free(t->data.labels);
    free(t->index);
}

static bool pass(struct training *t, struct batch_result *result, struct error *err)
{
    const struct batch batch = {.data = &t->data,
                                .index = t->index,
                                .rows = t->probe->rows,
                                .global_rows = t->probe->rows,
                                .seed = 1};
    return t->backend->plan_run(t->device, t->plan, &batch, result, err);
}

/* --- capture --- */

/* "step 12 (conv conv1)" */
static void name_step(const struct training *t, int at, char *text, size_t size)
{
    const struct node *node = t->plan->core.steps[at].node;
    const char *name = node && node->op != NET_NONE ? t->net->ops[node->op].name : "";
    snprintf(text, size, "step %d (%s%s%s)", at, node ? net_kind_name(node->kind) : "batch",
             *name ? " " : "", name);
}

/* What the step queues, as a graph. */
static cudaGraphExec_t capture(struct training *t, int at, struct error *err)
{
    cudaStream_t stream = t->device->stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    if (!cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture",
                    err))
        return NULL;
    bool ok = plan_core_run(&t->plan->core, t->plan, t->net, t->device->name, at, at + 1, err);
    const cudaError_t status = cudaStreamEndCapture(stream, &graph);
    ok = ok && cuda_check(status, "capture", err) &&
         cuda_check(cudaGraphInstantiate(&ready, graph, 0), "graph", err);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError(); /* else the next call would report it again */
    return ok ? ready : NULL;
}

static bool start(struct training *t, cudaGraphExec_t graph, struct error *err)
{
    const bool ok = cuda_check(cudaGraphLaunch(graph, t->device->stream), "graph", err) &&
                    cuda_wait(t->device, t->device->stream, "a step", err);
    (void)cudaGraphExecDestroy(graph);
    return ok;
}

static int capture_steps(struct training *t)
{
    int refused = 0;
    const int count = t->plan->core.step_count;
    /* The first one takes the rows of each batch and is never captured. */
    for (int i = 1; i < count; i++) {
        struct error err = ERROR_INIT;
        char name[160];
        name_step(t, i, name, sizeof name);
        cudaGraphExec_t graph = capture(t, i, &err);
        if (!graph)
            refused += probe_fail(t->probe, "%s refuses capture: %s", name, err.text);
        else if (!start(t, graph, &err))
            return refused + probe_fail(t->probe, "%s as a graph: %s", name, err.text);
    }
    probe_say(t->probe, "capture: %d of %d steps refuse it", refused, count - 1);
    return refused;
}

int probe_capture(const struct probe *probe)
{
    struct training t = {.probe = probe};
    struct error err = ERROR_INIT;
    struct batch_result result;
    bool ok = make(&t, &err);
    if (ok)
        t.plan->captures = false; /* that is done here, step by step */
    /* A pass as it is before: libraries load what they need. */
    ok = ok && pass(&t, &result, &err);
    const int failed = ok ? capture_steps(&t) : probe_fail(probe, "%s", err.text);
    release(&t);
    return failed;
}

/* --- steps --- */

static bool take_steps(struct training *t, struct batch_result *result, struct error *err)
{
    const struct optimizer_step sgd = {.rule = UPDATE_MOMENTUM, .lr = 0.01F, .momentum = 0.9F};
    const int warm = t->probe->steps / 2; /* the first are slower: loading, capturing */
    double begin = clock_seconds();
    for (int i = 0; i < t->probe->steps; i++) {
        if (i == warm)
            begin = clock_seconds();
        if (!pass(t, result, err) ||
            !t->backend->update(t->device, t->replica, 0, t->replica->count, &sgd, err))
            return false;
        if (i == 0)
            probe_say(t->probe, "step 1: loss %.4f", result->loss_sum / t->probe->rows);
    }
    if (!cuda_wait(t->device, t->device->stream, "the last step", err))
        return false;
    const double seconds = clock_seconds() - begin;
    probe_say(t->probe, "step %d: loss %.4f", t->probe->steps, result->loss_sum / t->probe->rows);
    probe_say(t->probe, "note: batch %d: %.0f samples/s over the last %d steps", t->probe->rows,
              (double)t->probe->rows * (t->probe->steps - warm) / seconds, t->probe->steps - warm);
    return true;
}

int probe_steps(const struct probe *probe)
{
    struct training t = {.probe = probe};
    struct error err = ERROR_INIT;
    struct batch_result result;
    int failed = 0;
    if (!make(&t, &err) || !take_steps(&t, &result, &err))
        failed = probe_fail(probe, "%s", err.text);
    else if (*t.backend->plan_note(t.plan))
        failed = probe_fail(probe, "the plan notes: %s", t.backend->plan_note(t.plan));
    else if (!isfinite(result.loss_sum))
        failed = probe_fail(probe, "the loss is no number");
    release(&t);
    return failed;
}
