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
        if (plan->replica->places[i].kind != PLACE_STATE && plan->replica->places[i].offset < end &&
            plan->done[i] > last)
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
        plan->pieces[plan->piece_count++] = (struct piece){.end = 1};
    }
    while (bucket < count) {
        const int end = last_step_before(plan, buckets->ends[bucket]) + 1;
        while (bucket < count && last_step_before(plan, buckets->ends[bucket]) < end)
            bucket++;
        plan->pieces[plan->piece_count++] =
            (struct piece){.begin = begin, .end = end > begin ? end : begin, .bucket_end = bucket};
        begin = end > begin ? end : begin;
    }
    plan->pieces[plan->piece_count++] =
        (struct piece){.begin = begin, .end = plan->core.step_count, .bucket_end = bucket};
    return true;
}

void cuda_pieces_forget(struct plan *plan)
{
    for (int i = 0; i < plan->piece_count; i++) {
        if (plan->pieces[i].graph)
            cudaGraphExecDestroy(plan->pieces[i].graph);
        plan->pieces[i].graph = NULL;
    }
}

void cuda_pieces_free(struct plan *plan)
{
    cuda_pieces_forget(plan);
    free(plan->pieces);
}

static bool queue_steps(struct plan *plan, const struct piece *piece, struct error *err)
{
    return plan_core_run(&plan->core, plan, plan->replica->base.net, plan->device->name,
                         piece->begin, piece->end, err);
}

/* Record the piece's steps instead of running them. Not being able to is no error: *reason. */
static bool capture(struct plan *plan, struct piece *piece, struct error *reason)
{
    cudaStream_t stream = plan->device->stream;
    cudaGraph_t graph = NULL;
    if (!cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture",
                    reason))
        return false;
    bool ok = queue_steps(plan, piece, reason);
    cudaError_t status = cudaStreamEndCapture(stream, &graph);
    ok = ok && cuda_check(status, "capture", reason) &&
         cuda_check(cudaGraphInstantiate(&piece->graph, graph, 0), "graph", reason);
    if (graph)
        cudaGraphDestroy(graph);
    if (!ok)
        piece->graph = NULL;
    return ok;
}

/* The first step differs from pass to pass; a plan without rows has none such. */
static bool is_fixed(const struct plan *plan, const struct piece *piece)
{
    return piece->begin < piece->end && (piece->begin > 0 || plan->core.request.rows == 0);
}

/*
 * From the second pass on: all pieces before any is started, so that nothing of this pass, no
 * reduction of its gradients either, is under way on the device meanwhile. If one cannot be
 * captured, none is.
 */
static void capture_all(struct plan *plan)
{
    for (int i = 0; i < plan->piece_count; i++) {
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

static bool run_piece(struct plan *plan, const struct piece *piece, struct error *err)
{
    if (!piece->graph)
        return queue_steps(plan, piece, err);
    return cuda_check(cudaGraphLaunch(piece->graph, plan->device->stream), "graph", err) ||
           error_prefix(err, "%s", plan->device->name);
}

bool cuda_pieces_run(struct plan *plan, struct error *err)
{
    const struct gradient_buckets *buckets = &plan->core.request.buckets;
    int told = 0;
    if (plan->captures && plan->warm)
        capture_all(plan);
    for (int i = 0; i < plan->piece_count; i++) {
        if (!run_piece(plan, &plan->pieces[i], err))
            return false;
        for (; told < plan->pieces[i].bucket_end; told++)
            if (!buckets->ready(buckets->context, told, err))
                return false;
    }
    plan->warm = true;
    return true;
}
