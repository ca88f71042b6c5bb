/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/pass/segments.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/device/cuda/runtime/turn.h"

/*
 * Where a plan's steps are cut. Those that read or write what lies elsewhere from pass to pass (the
 * rows of this batch, and what a stage takes and gives) are queued by the host, step by step; what
 * is between is one segment, or as many as gradient buckets are completed at different times.
 */

/* The step after which grads[0..end) are final. */
static int last_step_before(const struct plan *plan, size_t end)
{
    return plan_core_gradient_step(&plan->core, plan->replica->base.net, &plan->replica->places,
                                   end);
}

static void add(struct segments *pass, struct segment segment)
{
    pass->list[pass->count++] = segment;
}

/* Steps from `begin` on, up to where each bucket is complete; where the next ones begin. */
static int add_buckets(const struct plan *plan, struct segments *pass, int begin, int *bucket)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    const int count = plan->core.request.mode == PLAN_TRAIN ? buckets->count : 0;
    while (*bucket < count) {
        const int last = last_step_before(plan, buckets->ends[*bucket]) + 1;
        const int end = last > begin ? last : begin;
        while (*bucket < count && last_step_before(plan, buckets->ends[*bucket]) < last)
            (*bucket)++;
        add(pass,
            (struct segment){.begin = begin, .end = end, .fixed = true, .bucket_end = *bucket});
        begin = end;
    }
    return begin;
}

/* Steps [begin, end), of which the first and the last may change. */
static bool divide(const struct plan *plan, struct segments *pass, int begin, int end, bool changes,
                   bool gives, struct error *err)
{
    int bucket = 0;
    pass->list = calloc((size_t)plan->core.request.buckets.count + 3, sizeof *pass->list);
    if (!pass->list)
        return error_memory(err, "a plan");
    if (changes) {
        add(pass, (struct segment){.begin = begin, .end = begin + 1});
        begin++;
    }
    begin = add_buckets(plan, pass, begin, &bucket);
    add(pass,
        (struct segment){.begin = begin, .end = end - gives, .fixed = true, .bucket_end = bucket});
    if (gives)
        add(pass, (struct segment){.begin = end - 1, .end = end, .bucket_end = bucket});
    return true;
}

bool cuda_segments_make(struct plan *plan, struct error *err)
{
    const struct plan_core *core = &plan->core;
    const struct graph *graph = &plan->replica->graph;
    const int slots = core->request.slots;
    plan->pass_count = slots > 0 ? 2 * slots : 1;
    plan->passes = calloc((size_t)plan->pass_count, sizeof *plan->passes);
    if (!plan->passes)
        return error_memory(err, "a plan");
    if (slots == 0)
        return divide(plan, plan->passes, 0, core->step_count, core->request.rows > 0, !graph->ends,
                      err);
    for (int i = 0; i < plan->pass_count; i += 2)
        if (!divide(plan, &plan->passes[i], 0, core->forward_steps, true, !graph->ends, err) ||
            !divide(plan, &plan->passes[i + 1], core->forward_steps, core->step_count, !graph->ends,
                    !graph->begins, err))
            return false;
    return true;
}

static void forget_graph(cudaGraphExec_t *graph, bool at_rest)
{
    if (*graph && at_rest)
        cudaGraphExecDestroy(*graph);
    *graph = NULL;
}

static void forget(struct segments *pass, bool at_rest)
{
    for (int i = 0; i < pass->count; i++) {
        struct segment *segment = &pass->list[i];
        forget_graph(&segment->graph, at_rest);
        while (segment->cuts) {
            struct cut *cut = segment->cuts;
            segment->cuts = cut->next;
            forget_graph(&cut->graph, at_rest);
            free(cut);
        }
        segment->last_cut = NULL;
    }
}

void cuda_segments_drop(struct plan *plan)
{
    for (int i = 0; i < plan->pass_count; i++)
        forget(&plan->passes[i], true);
}

void cuda_segments_free(struct plan *plan, bool at_rest)
{
    for (int i = 0; plan->passes && i < plan->pass_count; i++) {
        forget(&plan->passes[i], at_rest);
        free(plan->passes[i].list);
    }
    free(plan->passes);
}

static bool queue_steps(struct plan *plan, const struct segment *segment, struct error *err)
{
    if (plan->times.on)
        return step_times_queue(plan, segment->begin, segment->end, err);
    return plan_core_run(&plan->core, plan, plan->replica->base.net, plan->device->name,
                         segment->begin, segment->end, err);
}

static bool begin_capture(const struct plan *plan, struct error *err)
{
    return cuda_check(
        cudaStreamBeginCapture(plan->device->stream, cudaStreamCaptureModeThreadLocal), "capture",
        err);
}

/* What was captured becomes the newest graph of the segment. */
static bool end_capture(const struct plan *plan, struct segment *segment, bool ok,
                        struct error *err)
{
    cudaGraphExec_t *newest = segment->last_cut ? &segment->last_cut->graph : &segment->graph;
    cudaGraph_t graph = NULL;
    cudaError_t status = cudaStreamEndCapture(plan->device->stream, &graph);
    ok = ok && cuda_check(status, "capture", err) &&
         cuda_check(cudaGraphInstantiate(newest, graph, 0), "graph", err);
    if (graph && cudaGraphDestroy(graph) != cudaSuccess)
        (void)cudaGetLastError(); /* else the next launch would be blamed */
    if (!ok)
        *newest = NULL;
    return ok;
}

bool cuda_segments_cut(struct plan *plan,
                       bool (*run)(struct plan *plan, const void *layer, const void *what,
                                   struct error *err),
                       const void *layer, const void *what, struct error *err)
{
    struct segment *segment = plan->capturing;
    if (!segment)
        return run(plan, layer, what, err);
    struct cut *cut = malloc(sizeof *cut);
    if (!cut)
        return error_memory(err, "a CUDA graph");
    if (!end_capture(plan, segment, true, err)) {
        free(cut);
        return false;
    }
    *cut = (struct cut){.run = run, .layer = layer, .what = what};
    *(segment->last_cut ? &segment->last_cut->next : &segment->cuts) = cut;
    segment->last_cut = cut;
    return begin_capture(plan, err);
}

/* Record the segment's steps instead of running them. Not being able to is no error: *reason. */
static bool capture(struct plan *plan, struct segment *segment, struct error *reason)
{
    if (!begin_capture(plan, reason))
        return false;
    plan->capturing = segment;
    bool ok = queue_steps(plan, segment, reason);
    plan->capturing = NULL;
    return end_capture(plan, segment, ok, reason);
}

static bool is_capturable(const struct segment *segment)
{
    return segment->fixed && segment->begin < segment->end;
}

/*
 * At the end of the first pass: all segments, when nothing of another GPU is waited for by this
 * one, because capturing may allocate, as loading code does. If one cannot be captured, none is.
 */
static void capture_all(struct plan *plan, struct segments *pass)
{
    for (int i = 0; i < pass->count; i++) {
        struct segment *segment = &pass->list[i];
        struct error reason = ERROR_INIT;
        if (!is_capturable(segment) || segment->graph || capture(plan, segment, &reason))
            continue;
        (void)cudaGetLastError(); /* else the next call would report it again */
        cuda_segments_drop(plan);
        plan->captures = false;
        snprintf(plan->note, sizeof plan->note, "no CUDA graphs: %s", reason.text);
        return;
    }
}

static bool launch(struct plan *plan, cudaGraphExec_t graph, struct error *err)
{
    return cuda_check(cudaGraphLaunch(graph, plan->device->stream), "graph", err) ||
           error_prefix(err, "%s", plan->device->name);
}

static bool run_segment(struct plan *plan, const struct segment *segment, struct error *err)
{
    if (!segment->graph || plan->times.on)
        return queue_steps(plan, segment, err);
    if (!launch(plan, segment->graph, err))
        return false;
    for (const struct cut *cut = segment->cuts; cut; cut = cut->next)
        if (!cut->run(plan, cut->layer, cut->what, err) || !launch(plan, cut->graph, err))
            return false;
    return true;
}

static bool wants_capture(const struct plan *plan, const struct segments *pass)
{
    bool found = false;
    for (int i = 0; plan->captures && i < pass->count; i++)
        found = found || (is_capturable(&pass->list[i]) && !pass->list[i].graph);
    return found && !plan->times.on;
}

static bool run_segments(struct plan *plan, const struct segments *pass, struct error *err)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    int told = 0;
    for (int i = 0; i < pass->count; i++) {
        if (!run_segment(plan, &pass->list[i], err))
            return false;
        for (; told < pass->list[i].bucket_end; told++)
            if (!buckets->ready(buckets->context, told, err))
                return false;
    }
    return true;
}

static bool run_warm(struct plan *plan, struct segments *pass, struct error *err)
{
    if (wants_capture(plan, pass)) {
        if (!cuda_turn_take(plan->device, err))
            return false;
        capture_all(plan, pass);
        cuda_turn_give(plan->device);
    }
    return run_segments(plan, pass, err);
}

bool cuda_segments_run(struct plan *plan, struct segments *pass, struct error *err)
{
    plan->warm = pass->warm;
    if (pass->warm)
        return run_warm(plan, pass, err);
    bool ok = cuda_turn_take(plan->device, err) && run_segments(plan, pass, err);
    pass->warm = ok;
    if (ok && wants_capture(plan, pass))
        capture_all(plan, pass);
    cuda_turn_give(plan->device);
    return ok;
}
