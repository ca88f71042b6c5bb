/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/core.h"

#include <stdlib.h>

#include "base/clock.h"
#include "engine/device/plan/builder.h"
#include "engine/device/plan/stage_end.h"
#include "engine/device/plan/unary_layer.h"

/* What is built next is of an operation of the network, and has its rows. */
static void begin_operation(struct builder *b, int op)
{
    build_rows(b, op != NET_NONE && b->graph->net->ops[op].global_batch);
}

/* Without rows nothing is left but what all devices do together, in everybody's order: all-reduces
 * of synchronised statistics, and gathers. */
static bool takes_part(const struct builder *b, const struct node *node)
{
    return b->rows > 0 || node->kind == NET_GATHER_ROWS ||
           (node->kind == NET_BATCHNORM && b->training && b->core->request.sync_bn);
}

static bool name_node(const struct builder *b, const struct node *node, struct error *err)
{
    const char *name = node->op == NET_NONE ? "" : b->graph->net->ops[node->op].name;
    return error_prefix(err, "%s%s%s", net_kind_name(node->kind), *name ? " " : "", name);
}

static bool layer_forward(struct builder *b, const struct node *node, void **layer,
                          struct error *err)
{
    const struct layer_kind *kind = b->backend->layer_of(node->kind);
    if (!takes_part(b, node))
        return true;
    return kind->unary ? unary_layer_forward(b, node, kind->unary, layer, err)
                       : kind->forward(b, node, layer, err);
}

static bool layer_backward(struct builder *b, const struct node *node, void *layer,
                           struct error *err)
{
    const struct layer_kind *kind = b->backend->layer_of(node->kind);
    if (!takes_part(b, node))
        return true;
    return kind->unary ? unary_layer_backward(b, node, kind->unary, layer, err)
                       : kind->backward(b, node, layer, err);
}

/* The loss. */
static void begin_end(struct builder *b)
{
    const struct net *net = b->graph->net;
    begin_operation(b, net->tensors[net->output].producer);
    b->core->logits_rows = b->rows;
}

static bool build_begin(struct builder *b, struct error *err)
{
    return b->graph->begins ? b->backend->input(b, err) : stage_build_input(b, err);
}

static bool build_end(struct builder *b, struct error *err)
{
    return b->graph->ends ? b->backend->loss(b, err) : stage_build_output(b, err);
}

static bool build_forward(struct builder *b, struct error *err)
{
    if ((b->backend->begin && !b->backend->begin(b, err)) || (b->rows > 0 && !build_begin(b, err)))
        return false;
    for (int i = 0; i < b->graph->node_count; i++) {
        const struct node *node = &b->graph->nodes[i];
        begin_operation(b, graph_operation(b->graph, node));
        if (!layer_forward(b, node, &b->layers[i], err))
            return name_node(b, node, err);
    }
    begin_end(b);
    return b->rows == 0 || build_end(b, err);
}

static bool build_backward(struct builder *b, struct error *err)
{
    b->backward = true;
    b->core->forward_steps = b->core->step_count;
    if (!b->graph->ends && !stage_take_gradient(b, err))
        return false;
    for (int i = b->graph->node_count; i-- > 0;) {
        const struct node *node = &b->graph->nodes[i];
        begin_operation(b, graph_operation(b->graph, node));
        if (node->backward && !layer_backward(b, node, b->layers[i], err))
            return name_node(b, node, err);
    }
    return b->graph->begins || stage_give_gradient(b, err);
}

/* What layers leave to plan_finish. */
static bool build_finish(struct builder *b, struct error *err)
{
    b->core->backward_steps = b->core->step_count;
    b->rows = b->core->request.finish_rows;
    for (int i = b->graph->node_count; i-- > 0;) {
        const struct node *node = &b->graph->nodes[i];
        const struct layer_kind *kind = b->backend->layer_of(node->kind);
        if (b->layers[i] && kind->finish && !kind->finish(b, node, b->layers[i], err))
            return name_node(b, node, err);
    }
    return true;
}

static bool build_predicted(struct builder *b, struct error *err)
{
    const struct plan_request *request = &b->core->request;
    const int rows = request->global_rows > 0 ? request->global_rows : request->rows;
    if (!request->predictions)
        return true;
    b->core->predicted = build_object(b, (size_t)rows + 1, NULL, err);
    return b->core->predicted;
}

static bool build(struct builder *b, struct error *err)
{
    if (!build_predicted(b, err) || !build_forward(b, err) ||
        (b->training && (!build_backward(b, err) || !build_finish(b, err))))
        return false;
    if (b->core->logits_rows > 0 && b->graph->ends)
        build_use(b, b->core->logits); /* they stay readable after the last step */
    if (b->training && stage_is_planned(b))
        b->core->kept_bytes = pool_keep(&b->core->pool, b->core->forward_steps);
    return pool_layout(&b->core->pool, &b->core->planned_bytes, &b->core->scratch_bytes, err);
}

bool plan_core_build(struct plan_core *core, struct plan *plan, struct device *device,
                     const struct graph *graph, const struct build_backend *backend,
                     struct error *err)
{
    struct builder b = {
        .plan = plan,
        .core = core,
        .device = device,
        .backend = backend,
        .graph = graph,
        .rows = core->request.rows,
        .training = core->request.mode == PLAN_TRAIN,
        .values = calloc((size_t)graph->value_count, sizeof *b.values),
        .gradients = calloc((size_t)graph->value_count, sizeof *b.gradients),
        .layers = calloc((size_t)graph->node_count + 1, sizeof *b.layers),
        .recompute = calloc((size_t)graph->value_count, sizeof *b.recompute),
    };
    const size_t params = (size_t)graph->net->param_count;
    core->gradient_steps = malloc((params + 1) * sizeof *core->gradient_steps);
    for (size_t i = 0; core->gradient_steps && i < params; i++)
        core->gradient_steps[i] = -1;
    bool ok = b.values && b.gradients && b.layers && b.recompute && core->gradient_steps
                  ? build(&b, err)
                  : error_memory(err, "building a plan");
    free(b.values);
    free(b.gradients);
    free(b.layers);
    free(b.recompute);
    return ok;
}

void plan_core_memory(const struct plan_core *core, struct plan_memory *out)
{
    *out = (struct plan_memory){.activations = core->deferred_bytes + core->planned_bytes,
                                .scratch = core->scratch_bytes,
                                .kept = core->kept_bytes,
                                .input = core->input_bytes};
}

void plan_core_bind(struct plan_core *core, void *workspace, void *slot)
{
    char *deferred = workspace, *input = deferred + core->deferred_bytes;
    char *planned = input + core->input_bytes;
    for (int i = 0; i < core->pool.count; i++) {
        struct buffer *buffer = core->pool.list[i];
        switch (buffer->region) {
        case BUFFER_FIXED:
            break;
        case BUFFER_DEFERRED:
            buffer->data = deferred + buffer->offset;
            break;
        case BUFFER_INPUT:
            buffer->data = input + buffer->offset;
            break;
        case BUFFER_PLANNED:
        case BUFFER_SCRATCH:
            buffer->data = planned + buffer->offset;
            break;
        case BUFFER_KEPT:
            buffer->data = (char *)slot + buffer->offset;
            break;
        case BUFFER_END:
            buffer->data = (char *)core->micro->ends[buffer->end] + buffer->offset;
            break;
        }
    }
}

int plan_core_gradient_step(const struct plan_core *core, const struct net *net,
                            const struct param_places *places, size_t end)
{
    int last = -1;
    for (int i = 0; i < net->param_count; i++)
        if (!places->list[i].statistics && places->list[i].offset < end &&
            core->gradient_steps[i] > last)
            last = core->gradient_steps[i];
    return last;
}

/* One step ends where the next begins, so that one look at the clock serves both. */
static double note_time(struct plan_time *time, double begin)
{
    double end = clock_seconds();
    time->seconds += end - begin;
    time->calls++;
    return end;
}

bool plan_core_run(struct plan_core *core, struct plan *plan, const struct net *net,
                   const char *device_name, int begin, int end, struct error *err)
{
    double time = core->times ? clock_seconds() : 0;
    const struct batch *batch = core->batch;
    for (int i = begin; i < end; i++) {
        const struct step *step = &core->steps[i];
        core->batch = step->global_batch ? batch->global : batch;
        const bool ok = step->run(plan, step->layer, err);
        core->batch = batch;
        if (ok) {
            if (core->times)
                time = note_time(&core->times[i], time);
            continue;
        }
        const char *kind = step->node ? net_kind_name(step->node->kind) : "batch";
        const char *name =
            step->node && step->node->op != NET_NONE ? net->ops[step->node->op].name : "";
        return error_prefix(err, "%s: %s%s%s", device_name, kind, *name ? " " : "", name);
    }
    return true;
}

void plan_core_free(struct plan_core *core)
{
    for (int i = 0; i < core->owned_count; i++) {
        if (core->owned[i].release)
            core->owned[i].release(core->owned[i].object);
        free(core->owned[i].object);
    }
    free(core->owned);
    free(core->gradient_steps);
    free(core->steps);
    free(core->times);
    pool_free(&core->pool);
}
