/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "engine/device/cuda/plan.h"

/*
 * Where a plan's steps are cut. The first step (the rows of this batch) is always queued by the
 * host, step by step; what follows is one piece, or as many as gradient buckets are completed at
 * different times.
 */

/* The step behind which grads[0..end) are final. */
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

bool cuda_pieces_make(struct plan *plan, struct error *err)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    const int count = plan->core.request.mode == PLAN_TRAIN ? buckets->count : 0;
    int begin = 0, bucket = 0;
    plan->pieces = calloc((size_t)count + 2, sizeof *plan->pieces);
    if (!plan->pieces)
        return error_memory(err, "a plan");
    if (plan->core.request.rows > 0) {
        begin = 1;
        plan->pieces[plan->bucket_count++] = (struct piece){.end = 1};
    }
    while (bucket < count) {
        const int end = last_step_before(plan, buckets->ends[bucket]) + 1;
        while (bucket < count && last_step_before(plan, buckets->ends[bucket]) < end)
            bucket++;
        plan->pieces[plan->bucket_count++] =
            (struct piece){.begin = begin, .end = end > begin ? end : begin, .bucket_end = bucket};
        begin = end > begin ? end : begin;
    }
    plan->pieces[plan->bucket_count++] =
        (struct piece){.begin = begin, .end = plan->core.step_count, .bucket_end = bucket};
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
    for (int i = 0; i < plan->bucket_count; i++) {
        struct piece *piece = &plan->pieces[i];
        forget_graph(&piece->graph, at_rest);
        while (piece->cuts) {
            struct cut *cut = piece->cuts;
            piece->cuts = cut->next;
            forget_graph(&cut->graph, at_rest);
            free(cut);
        }
        piece->last_cut = NULL;
    }
}

void cuda_pieces_forget(struct plan *plan)
{
    forget(plan, true);
}

void cuda_pieces_free(struct plan *plan, bool at_rest)
{
    forget(plan, at_rest);
    free(plan->pieces);
}

static bool queue_steps(struct plan *plan, const struct piece *piece, struct error *err)
{
    if (plan->times.on)
        return event_times_queue(plan, piece->begin, piece->end, err);
    return plan_core_run(&plan->core, plan, plan->replica->base.net, plan->device->name,
                         piece->begin, piece->end, err);
}

static bool begin_capture(const struct plan *plan, struct error *err)
{
    return cuda_check(
        cudaStreamBeginCapture(plan->device->stream, cudaStreamCaptureModeThreadLocal), "capture",
        err);
}

/* What was captured becomes the newest segment of the piece. */
static bool end_capture(const struct plan *plan, struct piece *piece, bool ok, struct error *err)
{
    cudaGraphExec_t *segment = piece->last_cut ? &piece->last_cut->graph : &piece->graph;
    cudaGraph_t graph = NULL;
    cudaError_t status = cudaStreamEndCapture(plan->device->stream, &graph);
    ok = ok && cuda_check(status, "capture", err) &&
         cuda_check(cudaGraphInstantiate(segment, graph, 0), "graph", err);
    if (graph && cudaGraphDestroy(graph) != cudaSuccess)
        (void)cudaGetLastError(); /* else the next launch would be blamed */
    if (!ok)
        *segment = NULL;
    return ok;
}

bool cuda_pieces_cut(struct plan *plan,
                     bool (*run)(struct plan *plan, const void *layer, const void *what,
                                 struct error *err),
                     const void *layer, const void *what, struct error *err)
{
    struct piece *piece = plan->capturing;
    if (!piece)
        return run(plan, layer, what, err);
    struct cut *cut = malloc(sizeof *cut);
    if (!cut)
        return error_memory(err, "a segment");
    if (!end_capture(plan, piece, true, err)) {
        free(cut);
        return false;
    }
    *cut = (struct cut){.run = run, .layer = layer, .what = what};
    *(piece->last_cut ? &piece->last_cut->next : &piece->cuts) = cut;
    piece->last_cut = cut;
    return begin_capture(plan, err);
}

/* Record the piece's steps instead of running them. Not being able to is no error: *reason. */
static bool capture(struct plan *plan, struct piece *piece, struct error *reason)
{
    if (!begin_capture(plan, reason))
        return false;
    plan->capturing = piece;
    bool ok = queue_steps(plan, piece, reason);
    plan->capturing = NULL;
    return end_capture(plan, piece, ok, reason);
}

/* The first step differs from pass to pass; a plan without rows has none such. */
static bool is_fixed(const struct plan *plan, const struct piece *piece)
{
    return piece->begin < piece->end && (piece->begin > 0 || plan->core.request.rows == 0);
}

/*
 * At the end of the first pass: all pieces, when nothing of another GPU is waited for by this one,
 * because capturing may allocate, as loading code does. If one cannot be captured, none is.
 */
static void capture_all(struct plan *plan)
{
    for (int i = 0; i < plan->bucket_count; i++) {
        struct piece *piece = &plan->pieces[i];
        struct error reason = ERROR_INIT;
        if (!is_fixed(plan, piece) || piece->graph || capture(plan, piece, &reason))
            continue;
        (void)cudaGetLastError(); /* else the next call would report it again */
        cuda_pieces_forget(plan);
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

static bool run_piece(struct plan *plan, const struct piece *piece, struct error *err)
{
    if (!piece->graph || plan->times.on)
        return queue_steps(plan, piece, err);
    if (!launch(plan, piece->graph, err))
        return false;
    for (const struct cut *cut = piece->cuts; cut; cut = cut->next)
        if (!cut->run(plan, cut->layer, cut->what, err) || !launch(plan, cut->graph, err))
            return false;
    return true;
}

static bool wants_capture(const struct plan *plan)
{
    bool found = false;
    for (int i = 0; plan->captures && i < plan->bucket_count; i++)
        found = found || (is_fixed(plan, &plan->pieces[i]) && !plan->pieces[i].graph);
    return found;
}

static bool run_pieces(struct plan *plan, struct error *err)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    int told = 0;
    for (int i = 0; i < plan->bucket_count; i++) {
        if (!run_piece(plan, &plan->pieces[i], err))
            return false;
        for (; told < plan->pieces[i].bucket_end; told++)
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
    return run_pieces(plan, err);
}

bool cuda_pieces_run(struct plan *plan, struct error *err)
{
    if (plan->warm)
        return run_warm(plan, err);
    plan->warm = cuda_turn_take(plan->device, err) && run_pieces(plan, err);
    if (plan->warm && !plan->times.on && wants_capture(plan))
        capture_all(plan);
    cuda_turn_give(plan->device);
    return plan->warm;
}
