/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/pass/segments.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/device/cuda/runtime/turn.h"

/*
 * Where a plan's steps are cut. The first step (the rows of this batch) is always queued by the
 * host, step by step; what follows is one segment, or as many as gradient buckets are completed at
 * different times.
 */

/* The step after which grads[0..end) are final. */
static int last_step_before(const struct plan *plan, size_t end)
{
    const struct net *net = plan->replica->base.net;
    int last = -1;
    for (int i = 0; i < net->param_count; i++)
        if (!plan->replica->places.list[i].statistics &&
            plan->replica->places.list[i].offset < end && plan->done[i] > last)
            last = plan->done[i];
    return last;
}

bool cuda_segments_make(struct plan *plan, struct error *err)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    const int count = plan->core.request.mode == PLAN_TRAIN ? buckets->count : 0;
    int begin = 0, bucket = 0;
    plan->segments = calloc((size_t)count + 2, sizeof *plan->segments);
    if (!plan->segments)
        return error_memory(err, "a plan");
    if (plan->core.request.rows > 0) {
        begin = 1;
        plan->segments[plan->segment_count++] = (struct segment){.end = 1};
    }
    while (bucket < count) {
        const int end = last_step_before(plan, buckets->ends[bucket]) + 1;
        while (bucket < count && last_step_before(plan, buckets->ends[bucket]) < end)
            bucket++;
        plan->segments[plan->segment_count++] = (struct segment){
            .begin = begin, .end = end > begin ? end : begin, .bucket_end = bucket};
        begin = end > begin ? end : begin;
    }
    plan->segments[plan->segment_count++] =
        (struct segment){.begin = begin, .end = plan->core.step_count, .bucket_end = bucket};
    return true;
}

static void forget_graph(cudaGraphExec_t *graph, bool at_rest)
{
    if (*graph && at_rest)
        cudaGraphExecDestroy(*graph);
    *graph = NULL;
}

static void forget(struct plan *plan, bool at_rest)
{
    for (int i = 0; i < plan->segment_count; i++) {
        struct segment *segment = &plan->segments[i];
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
    forget(plan, true);
}

void cuda_segments_free(struct plan *plan, bool at_rest)
{
    forget(plan, at_rest);
    free(plan->segments);
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

/* The first step differs from pass to pass; a plan without rows has none such. */
static bool is_fixed(const struct plan *plan, const struct segment *segment)
{
    return segment->begin < segment->end && (segment->begin > 0 || plan->core.request.rows == 0);
}

/*
 * At the end of the first pass: all segments, when nothing of another GPU is waited for by this
 * one, because capturing may allocate, as loading code does. If one cannot be captured, none is.
 */
static void capture_all(struct plan *plan)
{
    for (int i = 0; i < plan->segment_count; i++) {
        struct segment *segment = &plan->segments[i];
        struct error reason = ERROR_INIT;
        if (!is_fixed(plan, segment) || segment->graph || capture(plan, segment, &reason))
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

static bool wants_capture(const struct plan *plan)
{
    bool found = false;
    for (int i = 0; plan->captures && i < plan->segment_count; i++)
        found = found || (is_fixed(plan, &plan->segments[i]) && !plan->segments[i].graph);
    return found;
}

static bool run_segments(struct plan *plan, struct error *err)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    int told = 0;
    for (int i = 0; i < plan->segment_count; i++) {
        if (!run_segment(plan, &plan->segments[i], err))
            return false;
        for (; told < plan->segments[i].bucket_end; told++)
            if (!buckets->ready(buckets->context, told, err))
                return false;
    }
    return true;
}

static bool run_warm(struct plan *plan, struct error *err)
{
    if (!plan->times.on && wants_capture(plan)) {
        if (!cuda_turn_take(plan->device, err))
            return false;
        capture_all(plan);
        cuda_turn_give(plan->device);
    }
    return run_segments(plan, err);
}

bool cuda_segments_run(struct plan *plan, struct error *err)
{
    if (plan->warm)
        return run_warm(plan, err);
    plan->warm = cuda_turn_take(plan->device, err) && run_segments(plan, err);
    if (plan->warm && !plan->times.on && wants_capture(plan))
        capture_all(plan);
    cuda_turn_give(plan->device);
    return plan->warm;
}
