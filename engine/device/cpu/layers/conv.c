/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/layers/conv_run.h"
#include "engine/device/cpu/layers/deferred.h"
#include "engine/device/cpu/layers/elementwise.h"
#include "engine/device/cpu/layers/fold.h"

struct conv {
    struct conv_run forward, data, weights;
    struct conv_shape shape;
    size_t count; /* numbers of the result */
    const struct buffer *y, *dy;
    struct buffer *masked; /* gradient before the ReLU */
    /* Of a stage, whose gradients add up over micro-batches: where they go from scratch. */
    struct gathered {
        float *to;
        size_t count;
    } dweights, dbias;
    /* Of a stage: what the gradients of several micro-batches are made of at once. */
    struct deferred kept;
    struct conv_shape kept_shape;
};

static void release(void *layer)
{
    struct conv *conv = layer;
    conv_run_release(&conv->forward);
    conv_run_release(&conv->data);
    conv_run_release(&conv->weights);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    return conv_run(plan->device, &((struct conv *)layer)->forward, err);
}

static bool run_data(struct plan *plan, void *layer, struct error *err)
{
    return conv_run(plan->device, &((struct conv *)layer)->data, err);
}

static void gather(const struct plan *plan, const struct buffer *from, const struct gathered *g)
{
    if (plan->core.adds)
        elementwise_add(from->data, g->to, false, g->to, g->count, false);
    else
        memcpy(g->to, from->data, g->count * sizeof *g->to);
}

static bool run_weights(struct plan *plan, void *layer, struct error *err)
{
    struct conv *c = layer;
    if (!conv_run(plan->device, &c->weights, err))
        return false;
    if (c->dweights.to)
        gather(plan, c->weights.at.weights, &c->dweights);
    if (c->dbias.to)
        gather(plan, c->weights.at.bias, &c->dbias);
    return true;
}

static bool run_finish(struct plan *plan, void *layer, struct error *err)
{
    deferred_clear_rest(plan, &((struct conv *)layer)->kept);
    return run_weights(plan, layer, err);
}

static bool run_mask(struct plan *plan, void *layer, struct error *err)
{
    const struct conv *c = layer;
    (void)err;
    elementwise_relu_backward(c->y->data, c->dy->data, c->masked->data, c->count, plan->bf16);
    return true;
}

static bool stored_make(struct conv_stored *s, const struct builder *b, const struct node *node,
                        struct error *err)
{
    const struct graph *g = b->graph;
    const struct net_op *op = &g->net->ops[node->op];
    const bool filled = op->groups == 1;
    const struct value *y = &g->values[node->output];
    *s =
        (struct conv_stored){.src = value_desc(b, &g->values[node->input], filled),
                             .weights = b->plan->replica->formats[op->weight].desc,
                             .bias = vector_desc((size_t)(filled ? value_channels(y) : y->shape.c)),
                             .dst = value_desc(b, y, filled)};
    return (s->src && s->bias && s->dst) || error_memory(err, "layouts of a convolution");
}

static void stored_free(struct conv_stored *s)
{
    compat_desc_free(s->src);
    compat_desc_free(s->bias);
    compat_desc_free(s->dst);
}

/* Whether a BatchNorm reads the result as it is. */
static bool moments_wanted(const struct builder *b, const struct node *node)
{
    if (!b->training || node->bias != NET_NONE || node->relu || node->residual != NET_NONE)
        return false;
    for (int i = 0; i < b->graph->node_count; i++)
        if (b->graph->nodes[i].kind == NET_BATCHNORM && b->graph->nodes[i].input == node->output)
            return true;
    return false;
}

/* Let the forward pass sum up what that BatchNorm wants, if it can. */
static bool make_moments(struct builder *b, const struct node *node, struct conv *conv,
                         struct error *err)
{
    const size_t blocks = (size_t)(conv->shape.out / conv->shape.out_block);
    const size_t bytes = (size_t)b->device->threads * blocks * sizeof(struct conv_moments);
    if (!conv_run_fuses(&conv->forward) || !moments_wanted(b, node))
        return true;
    struct buffer *moments = build_buffer(b, bytes, err);
    if (!moments)
        return false;
    build_use(b, moments);
    conv->forward.fused.moments = b->plan->fusions[node->output].moments = moments;
    return true;
}

/* The BatchNorm that leaves its work to the convolutions which read its result, or NULL. */
static const struct fused_norm *norm_of(const struct builder *b, const struct node *node)
{
    const struct fused_norm *norm = &b->plan->fusions[node->input].norm;
    return norm->x ? norm : NULL;
}

/* Let a pass do that work; conv_fuses() said that it can. */
static bool fuse_norm(struct conv_run *run, const struct fused_norm *norm, struct error *err)
{
    run->fused.norm = norm;
    return !norm || conv_run_fuses(run) ||
           error_set(err, ERROR_FAILED, "a convolution has another algorithm than planned");
}

/* What the step being built reads instead of the BatchNorm's result. */
static struct buffer *use_norm(struct builder *b, const struct fused_norm *n)
{
    build_use(b, n->x);
    build_use(b, n->stats);
    return n->x;
}

static bool attach_forward(struct builder *b, const struct node *node, struct conv *conv,
                           const struct conv_stored *stored, struct error *err)
{
    struct buffer *w, *bias;
    if (!fold_parameters(b, node, &w, &bias, err))
        return false;
    /* What is added lies where the sum will. */
    if (node->residual != NET_NONE)
        b->values[node->output] = b->values[node->residual];
    const struct fused_norm *norm = norm_of(b, node);
    struct buffer *x = norm ? use_norm(b, norm) : build_value(b, node->input, err);
    struct buffer *y = x ? build_value(b, node->output, err) : NULL;
    const struct conv_buffers at = {.src = x, .weights = w, .bias = bias, .dst = y};
    conv->y = y;
    if (!y || !conv_run_make(b, &conv->forward, &conv->shape, CONV_FORWARD, stored, &at, err))
        return false;
    return fuse_norm(&conv->forward, norm, err) && make_moments(b, node, conv, err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct conv *conv = *layer = build_object(b, sizeof *conv, release, err);
    struct conv_stored stored;
    if (!conv)
        return false;
    conv_shape_of(&conv->shape, b->graph, node, b->rows, b->plan->bf16);
    conv->count = (size_t)b->rows * value_row(&b->graph->values[node->output]);
    bool ok = stored_make(&stored, b, node, err) && attach_forward(b, node, conv, &stored, err) &&
              build_step(b, node, run_forward, conv, err);
    stored_free(&stored);
    return ok;
}

/* A step that takes the gradient through the ReLU; *dy becomes its result. */
static bool build_mask(struct builder *b, const struct node *node, struct conv *conv,
                       struct buffer **dy, struct error *err)
{
    conv->dy = *dy;
    conv->masked = gradient_result(b, *dy, node->output, err);
    if (!conv->masked)
        return false;
    build_use(b, b->values[node->output]);
    if (conv->masked != *dy) {
        gradient_drop(*dy);
        conv->masked->holders++;
    }
    *dy = conv->masked;
    build_label(b, PLAN_BACKWARD_RELU, "");
    return build_step(b, node, run_mask, conv, err);
}

static bool build_data(struct builder *b, const struct node *node, struct conv *conv,
                       struct buffer *dy, const struct conv_stored *stored, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct buffer *dx = gradient_new(b, node->input, err);
    struct buffer *w = dx ? build_fixed(b, param_values(b, op->weight), err) : NULL;
    const struct conv_buffers at = {.src = dx, .weights = w, .dst = dy};
    return w && conv_run_make(b, &conv->data, &conv->shape, CONV_BACKWARD_DATA, stored, &at, err) &&
           build_step(b, node, run_data, conv, err) && gradient_give(b, node, node->input, dx, err);
}

/* Where a pass puts the gradient of a parameter. */
static struct buffer *gradient_buffer(struct builder *b, int param, struct gathered *gathered,
                                      struct error *err)
{
    const struct cpu_replica *r = b->plan->replica;
    const struct weights_format *format = &r->formats[param];
    if (b->core->request.slots == 0)
        return build_fixed(b, param_grads(b, param), err);
    *gathered =
        (struct gathered){param_grads(b, param),
                          format->desc ? dnnl_memory_desc_get_size(format->desc) / sizeof(float)
                                       : b->graph->net->params[param].count};
    return build_scratch(b, r->places.list[param].size * sizeof(float), err);
}

/* Of `at` src and dst are set; `shape` is theirs. The step is still to be added. */
static bool make_weights(struct builder *b, const struct node *node, struct conv *conv,
                         const struct conv_shape *shape, const struct conv_stored *stored,
                         struct conv_buffers *at, struct error *err)
{
    at->weights = gradient_buffer(b, b->graph->net->ops[node->op].weight, &conv->dweights, err);
    if (!at->weights)
        return false;
    if (node->bias != NET_NONE && !(at->bias = gradient_buffer(b, node->bias, &conv->dbias, err)))
        return false;
    return conv_run_make(b, &conv->weights, shape, CONV_BACKWARD_WEIGHTS, stored, at, err);
}

static bool build_weights(struct builder *b, const struct node *node, struct conv *conv,
                          struct buffer *dy, const struct conv_stored *stored, struct error *err)
{
    const struct fused_norm *norm = norm_of(b, node);
    struct conv_buffers at = {
        .src = norm ? use_norm(b, norm) : build_forward_value(b, node->input, err), .dst = dy};
    return at.src && make_weights(b, node, conv, &conv->shape, stored, &at, err) &&
           fuse_norm(&conv->weights, norm, err) && build_step(b, node, run_weights, conv, err);
}

/* Instead of the gradients of the weights: keep what they are made of. */
static bool build_keep(struct builder *b, const struct node *node, struct conv *conv,
                       struct buffer *dy, struct error *err)
{
    const struct fused_norm *norm = norm_of(b, node);
    struct buffer *x = norm ? use_norm(b, norm) : build_forward_value(b, node->input, err);
    return x && deferred_build(b, node, x, norm, dy, &conv->kept, err);
}

static bool defers(const struct builder *b, const struct node *node)
{
    const struct graph *g = b->graph;
    return deferred_pays(b, g->net->params[g->net->ops[node->op].weight].count,
                         value_row(&g->values[node->input]) + value_row(&g->values[node->output]));
}

static bool finish(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct conv *conv = layer;
    struct conv_stored stored;
    struct conv_buffers at = {.src = conv->kept.x.to, .dst = conv->kept.dy.to};
    if (!at.src)
        return true;
    conv_shape_of(&conv->kept_shape, b->graph, node, b->rows, b->plan->bf16);
    bool ok = stored_make(&stored, b, node, err) &&
              make_weights(b, node, conv, &conv->kept_shape, &stored, &at, err) &&
              build_step(b, node, run_finish, conv, err);
    stored_free(&stored);
    return ok;
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct conv *conv = layer;
    struct buffer *dy[2];
    struct conv_stored stored;
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    if (node->relu && !build_mask(b, node, conv, &dy[0], err))
        return false;
    bool ok = stored_make(&stored, b, node, err) &&
              (defers(b, node) ? build_keep(b, node, conv, dy[0], err)
                               : build_weights(b, node, conv, dy[0], &stored, err)) &&
              (!b->graph->values[node->input].wants_grad ||
               build_data(b, node, conv, dy[0], &stored, err));
    stored_free(&stored);
    gradient_drop(dy[0]);
    return ok;
}

const struct layer_kind layer_conv = {.forward = forward, .backward = backward, .finish = finish};
