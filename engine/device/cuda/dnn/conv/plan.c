/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/plan.h"

#include <stdlib.h>

#include "engine/device/cuda/dnn/conv/autotune.h"
#include "engine/device/cuda/dnn/conv/graph.h"
#include "engine/device/cuda/dnn/conv/request.h"
#include "engine/device/cuda/dnn/conv/search.h"

struct conv_plan {
    const struct cudnn_api *api;
    struct conv_request request;
    struct conv_graph graph;
    struct conv_found found;
    char name[256];
};

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
        !conv_search(maker, request, plan->graph.graph, &plan->found, err)) {
        conv_plan_destroy(plan);
        return error_prefix(err, "cuDNN cannot compute %s", text);
    }
    dnn_choice_text(&plan->found.choice, plan->name, sizeof plan->name);
    *out = plan;
    return true;
}

void conv_plan_destroy(struct conv_plan *plan)
{
    if (!plan)
        return;
    dnn_plan_free(&plan->found.way);
    conv_graph_free(&plan->graph);
    free(plan);
}

size_t conv_plan_workspace(const struct conv_plan *plan)
{
    return plan->found.way.workspace;
}

double conv_plan_seconds(const struct conv_plan *plan)
{
    return plan->found.seconds;
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
    if (!plan->found.way.runnable)
        return error_set(err, ERROR_FAILED, "%s: was planned for a GPU that is only described",
                         text);
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(&plan->request, role) && !pointers[role])
            return error_set(err, ERROR_FAILED, "%s: run without %s", text, conv_role_name(role));
    cudnnBackendDescriptor_t pack = conv_pack(plan->api, &plan->request, pointers, workspace, err);
    if (!pack)
        return error_prefix(err, "%s", text);
    bool ok = cudnn_check(plan->api, plan->api->BackendExecute(handle, plan->found.way.plan, pack),
                          text, err);
    dnn_release(plan->api, &pack, 1);
    return ok;
}
