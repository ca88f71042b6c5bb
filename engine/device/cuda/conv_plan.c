/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/conv_plan.h"

#include <math.h>
#include <stdlib.h>

#include "engine/device/cuda/conv_choices.h"
#include "engine/device/cuda/conv_graph.h"
#include "engine/device/cuda/conv_request.h"
#include "engine/device/cuda/conv_tune.h"
#include "engine/device/cuda/dnn_engine.h"

/* So many are timed at most. */
#define CANDIDATES_TIMED 10
/* Of those that have to be compiled first, a second or two for each, only so many. */
#define COMPILED_TIMED 3
/* So many of what heuristics offer are tried until one can be built. */
#define CANDIDATES 48

struct conv_plan {
    const struct cudnn_api *api;
    struct conv_request request;
    struct conv_graph graph;
    struct dnn_plan way;
    double seconds;
    char name[256];
};

/* What making a plan goes through. */
struct search {
    struct conv_maker *maker;
    const struct conv_request *request;
    struct dnn_target target;
    cudnnBackendDescriptor_t graph;
    unsigned forbidden;
    const char *key; /* NULL: nothing is remembered */
};

static unsigned forbidden_notes(const struct conv_request *request)
{
    /* All types: sums are f32. */
    unsigned notes = DNN_NOTE(REDUCED_PRECISION_REDUCTION);
    if (request->deterministic)
        notes |= DNN_NOTE(NONDETERMINISTIC);
    /* f32 without TF32 is for those who compare: no rounded factors, and no transforms, whose
     * rounding errors grow with their size. Its compiled engines are not worth the wait, which is
     * the longest of all. */
    if (request->type == TYPE_F32)
        notes |= DNN_NOTE(TENSOR_CORE) | DNN_NOTE(DOWN_CONVERT_INPUTS) | DNN_NOTE(FFT) |
                 DNN_NOTE(WINOGRAD) | DNN_NOTE(WINOGRAD_TILE_4x4) | DNN_NOTE(WINOGRAD_TILE_6x6) |
                 DNN_NOTE(WINOGRAD_TILE_13x13) | DNN_NOTE_COMPILED;
    return notes;
}

static bool build_way(const struct search *search, const struct dnn_choice *choice,
                      struct dnn_plan *out, struct error *err)
{
    const struct conv_maker *maker = search->maker;
    if (!dnn_plan_build(out, maker->api, search->graph, &search->target, choice, search->forbidden,
                        err))
        return false;
    if (out->workspace <= maker->workspace_limit)
        return true;
    error_set(err, ERROR_FAILED, "needs a workspace of %zu bytes, more than the %zu allowed",
              out->workspace, maker->workspace_limit);
    dnn_plan_free(out);
    return false;
}

/* The candidates that can be built, best first, at most `limit`. */
struct ways {
    struct dnn_choice choices[CANDIDATES_TIMED];
    struct dnn_plan plans[CANDIDATES_TIMED];
    double seconds[CANDIDATES_TIMED];
    int count;
};

static bool build_ways(const struct search *search, int limit, struct ways *ways, struct error *err)
{
    struct dnn_choice candidates[CANDIDATES];
    int count = 0;
    ways->count = 0;
    if (!dnn_candidates(search->maker->api, search->graph, &search->target, search->forbidden,
                        candidates, CANDIDATES, &count, err))
        return false;
    if (!count)
        return error_set(err, ERROR_FAILED, "cuDNN offers no engine for it");
    int compiled = 0;
    for (int i = 0; i < count && ways->count < limit && compiled < COMPILED_TIMED; i++) {
        struct dnn_plan *plan = &ways->plans[ways->count];
        if (!build_way(search, &candidates[i], plan, err))
            continue;
        compiled += (plan->notes & DNN_NOTE_COMPILED) != 0;
        ways->choices[ways->count] = candidates[i];
        ways->seconds[ways->count++] = NAN;
    }
    return ways->count > 0;
}

/* The fastest; where none was timed, the first. */
static int best_way(const struct ways *ways)
{
    int best = 0;
    for (int i = 1; i < ways->count; i++)
        if (!isnan(ways->seconds[i]) &&
            !(ways->seconds[best] <= ways->seconds[i])) /* also when the best has no time yet */
            best = i;
    return best;
}

static void remember(const struct search *search, const struct conv_choice *choice)
{
    struct conv_maker *maker = search->maker;
    struct error err = ERROR_INIT;
    if (search->key && !conv_choices_put(maker->cache_path, search->key, choice, &err))
        maker->cache_error = err;
}

/* Takes over the plan of the way that is chosen. */
static void take_way(struct conv_plan *plan, struct dnn_plan *way, const struct dnn_choice *choice,
                     double seconds)
{
    plan->way = *way;
    plan->seconds = seconds;
    dnn_choice_text(choice, plan->name, sizeof plan->name);
    *way = (struct dnn_plan){0};
}

static bool find_way(const struct search *search, struct conv_plan *plan, struct error *err)
{
    const struct conv_maker *maker = search->maker;
    bool tune = maker->tune && maker->handle && !search->request->deterministic;
    struct ways ways;
    if (!build_ways(search, tune ? CANDIDATES_TIMED : 1, &ways, err))
        return false;
    bool ok = !tune || conv_tune(maker, search->request, ways.plans, ways.count, ways.seconds, err);
    if (ok) {
        int best = best_way(&ways);
        double seconds = ways.seconds[best];
        if (!isnan(seconds)) {
            struct conv_choice choice = {ways.choices[best], ways.plans[best].workspace, seconds};
            remember(search, &choice);
        }
        take_way(plan, &ways.plans[best], &ways.choices[best], seconds);
    }
    for (int i = 0; i < ways.count; i++)
        dnn_plan_free(&ways.plans[i]);
    return ok;
}

/* As it was chosen before; false: not, or it cannot be built so any more. */
static bool recall_way(const struct search *search, struct conv_plan *plan)
{
    struct conv_choice choice;
    struct dnn_plan way;
    struct error ignored = ERROR_INIT;
    if (!search->key || !conv_choices_find(search->maker->cache_path, search->key, &choice))
        return false;
    if (!build_way(search, &choice.way, &way, &ignored)) {
        remember(search, NULL);
        return false;
    }
    take_way(plan, &way, &choice.way, choice.seconds > 0 ? choice.seconds : NAN);
    return true;
}

static bool choose(struct conv_maker *maker, struct conv_plan *plan, const char *text,
                   struct error *err)
{
    bool remembers = maker->cache_path && maker->handle && !plan->request.deterministic;
    char *key = remembers ? conv_choices_key(maker->api->GetVersion(),
                                             maker->device_name ? maker->device_name : "?", text)
                          : NULL;
    if (remembers && !key)
        return error_memory(err, text);
    struct search search = {
        .maker = maker,
        .request = &plan->request,
        .target.handle = maker->handle,
        .graph = plan->graph.graph,
        .forbidden = forbidden_notes(&plan->request),
        .key = key,
    };
    bool ok = true;
    if (!maker->handle) {
        search.target.described = dnn_described_device(maker->api, maker->description, err);
        ok = search.target.described != NULL;
    }
    ok = ok && (recall_way(&search, plan) || find_way(&search, plan, err));
    if (search.target.described)
        dnn_release(maker->api, &search.target.described, 1);
    free(key);
    return ok;
}

bool conv_plan_create(struct conv_maker *maker, const struct conv_request *request,
                      struct conv_plan **out, struct error *err)
{
    char text[256];
    *out = NULL;
    if (!conv_request_check(request, err))
        return false;
    conv_request_text(request, text, sizeof text);
    struct conv_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return error_memory(err, text);
    plan->api = maker->api;
    plan->request = *request;
    if (!conv_graph_build(&plan->graph, maker->api, maker->handle, request, err) ||
        !choose(maker, plan, text, err)) {
        conv_plan_destroy(plan);
        return error_prefix(err, "cuDNN cannot compute %s", text);
    }
    *out = plan;
    return true;
}

void conv_plan_destroy(struct conv_plan *plan)
{
    if (!plan)
        return;
    dnn_plan_free(&plan->way);
    conv_graph_free(&plan->graph);
    free(plan);
}

size_t conv_plan_workspace(const struct conv_plan *plan)
{
    return plan->way.workspace;
}

double conv_plan_seconds(const struct conv_plan *plan)
{
    return plan->seconds;
}

const char *conv_plan_name(const struct conv_plan *plan)
{
    return plan->name;
}

bool conv_plan_run(const struct conv_plan *plan, cudnnHandle_t handle,
                   const struct conv_tensors *tensors, void *workspace, struct error *err)
{
    char text[256];
    /* cuDNN takes pointers that it only reads as void *, too. */
    void *const pointers[CONV_ROLES] = {
        [CONV_X] = tensors->x,       [CONV_W] = tensors->w,
        [CONV_Y] = tensors->y,       [CONV_BIAS] = (void *)tensors->bias,
        [CONV_SUMS] = tensors->sums, [CONV_SQUARES] = tensors->squares,
    };
    conv_request_text(&plan->request, text, sizeof text);
    if (!plan->way.runnable)
        return error_set(err, ERROR_FAILED, "%s: was planned for a GPU that is only described",
                         text);
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(&plan->request, role) && !pointers[role])
            return error_set(err, ERROR_FAILED, "%s: run without %s", text, conv_role_name(role));
    cudnnBackendDescriptor_t pack = conv_pack(plan->api, &plan->request, pointers, workspace, err);
    if (!pack)
        return error_prefix(err, "%s", text);
    bool ok =
        cudnn_check(plan->api, plan->api->BackendExecute(handle, plan->way.plan, pack), text, err);
    dnn_release(plan->api, &pack, 1);
    return ok;
}
