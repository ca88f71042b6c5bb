/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv.h"

#include "engine/device/cpu/elementwise.h"
#include "engine/device/cpu/fold.h"
#include "engine/device/cpu/primitive.h"

struct conv {
    struct primitive forward, data, weights;
    struct conv_shape shape;
    const struct buffer *y, *dy;
    struct buffer *masked; /* gradient in front of the ReLU */
};

static void release(void *layer)
{
    struct conv *conv = layer;
    primitive_release(&conv->forward);
    primitive_release(&conv->data);
    primitive_release(&conv->weights);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct conv *)layer)->forward, err);
}

static bool run_data(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct conv *)layer)->data, err);
}

static bool run_weights(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct conv *)layer)->weights, err);
}

static bool run_mask(struct plan *plan, void *layer, struct error *err)
{
    const struct conv *c = layer;
    const struct conv_shape *s = &c->shape;
    (void)plan;
    (void)err;
    elementwise_relu_backward(c->y->data, c->dy->data, c->masked->data,
                              (size_t)s->rows * s->out * s->out_h * s->out_w);
    return true;
}

/* The stored layouts of what a convolution works on. */
struct stored {
    desc_t src, weights, bias, dst;
};

static bool stored_make(struct stored *s, const struct builder *b, const struct node *node,
                        struct error *err)
{
    const struct graph *g = b->graph;
    const struct net_op *op = &g->net->ops[node->op];
    *s = (struct stored){.src = value_desc(&g->values[node->input], b->rows, true),
                         .weights = b->plan->replica->places[op->weight].desc,
                         .bias = vector_desc((size_t)value_channels(&g->values[node->output])),
                         .dst = value_desc(&g->values[node->output], b->rows, true)};
    return (s->src && s->bias && s->dst) || error_memory(err, "layouts of a convolution");
}

static void stored_free(struct stored *s)
{
    compat_desc_free(s->src);
    compat_desc_free(s->bias);
    compat_desc_free(s->dst);
}

static bool attach_forward(struct builder *b, const struct node *node, struct conv *conv,
                           dnnl_primitive_desc_t desc, const struct stored *s, struct error *err)
{
    const struct conv_queries q = conv_queries(CONV_FORWARD);
    struct primitive *p = &conv->forward;
    struct buffer *w, *bias;
    if (!fold_parameters(b, node, &w, &bias, err))
        return false;
    /* What is added lies where the sum will. */
    if (node->residual != NET_NONE)
        b->values[node->output] = b->values[node->residual];
    struct buffer *x = build_value(b, node->input, err);
    struct buffer *y = x ? build_value(b, node->output, err) : NULL;
    conv->y = y;
    return y && primitive_make(b, p, desc, err) &&
           primitive_input(b, p, desc, DNNL_ARG_SRC, q.src, s->src, x, err) &&
           primitive_input(b, p, desc, DNNL_ARG_WEIGHTS, q.weights, s->weights, w, err) &&
           primitive_output(b, p, desc, DNNL_ARG_DST, q.dst, s->dst, y, err) &&
           (!bias || primitive_bind(b, p, DNNL_ARG_BIAS, s->bias, bias, err));
}

static bool attach_weights(struct builder *b, const struct node *node, struct conv *conv,
                           struct buffer *dy, dnnl_primitive_desc_t desc, const struct stored *s,
                           struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    const struct conv_queries q = conv_queries(CONV_BACKWARD_WEIGHTS);
    struct primitive *p = &conv->weights;
    struct buffer *x = build_kept(b, node->input, err);
    struct buffer *dw = x ? build_fixed(b, param_grads(b, op->weight), err) : NULL;
    if (!dw || !primitive_make(b, p, desc, err) ||
        !primitive_input(b, p, desc, DNNL_ARG_SRC, q.src, s->src, x, err) ||
        !primitive_input(b, p, desc, DNNL_ARG_DIFF_DST, q.dst, s->dst, dy, err) ||
        !primitive_output(b, p, desc, DNNL_ARG_DIFF_WEIGHTS, q.weights, s->weights, dw, err))
        return false;
    if (node->bias == NET_NONE)
        return true;
    struct buffer *db = build_fixed(b, param_grads(b, node->bias), err);
    return db && primitive_bind(b, p, DNNL_ARG_DIFF_BIAS, s->bias, db, err);
}

static bool attach_data(struct builder *b, const struct node *node, struct conv *conv,
                        struct buffer *dy, struct buffer *dx, dnnl_primitive_desc_t desc,
                        const struct stored *s, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    const struct conv_queries q = conv_queries(CONV_BACKWARD_DATA);
    struct primitive *p = &conv->data;
    struct buffer *w = build_fixed(b, param_values(b, op->weight), err);
    return w && primitive_make(b, p, desc, err) &&
           primitive_input(b, p, desc, DNNL_ARG_DIFF_DST, q.dst, s->dst, dy, err) &&
           primitive_input(b, p, desc, DNNL_ARG_WEIGHTS, q.weights, s->weights, w, err) &&
           primitive_output(b, p, desc, DNNL_ARG_DIFF_SRC, q.src, s->src, dx, err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct conv *conv = *layer = build_object(b, sizeof *conv, release, err);
    struct stored stored;
    dnnl_primitive_desc_t desc;
    if (!conv)
        return false;
    conv_shape_of(&conv->shape, b->graph, node, b->rows);
    if (!conv_describe_best(b->device, &conv->shape, CONV_FORWARD, &desc, err))
        return false;
    bool ok = stored_make(&stored, b, node, err) &&
              attach_forward(b, node, conv, desc, &stored, err) &&
              primitive_label(b, PLAN_FORWARD, desc) && build_step(b, node, run_forward, conv, err);
    stored_free(&stored);
    dnnl_primitive_desc_destroy(desc);
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
                       struct buffer *dy, const struct stored *stored, struct error *err)
{
    dnnl_primitive_desc_t desc;
    struct buffer *dx = gradient_new(b, node->input, err);
    if (!dx || !conv_describe_best(b->device, &conv->shape, CONV_BACKWARD_DATA, &desc, err))
        return false;
    bool ok = attach_data(b, node, conv, dy, dx, desc, stored, err) &&
              primitive_label(b, PLAN_BACKWARD_DATA, desc) &&
              build_step(b, node, run_data, conv, err) &&
              gradient_give(b, node, node->input, dx, err);
    dnnl_primitive_desc_destroy(desc);
    return ok;
}

static bool build_weights(struct builder *b, const struct node *node, struct conv *conv,
                          struct buffer *dy, const struct stored *stored, struct error *err)
{
    dnnl_primitive_desc_t desc;
    if (!conv_describe_best(b->device, &conv->shape, CONV_BACKWARD_WEIGHTS, &desc, err))
        return false;
    bool ok = attach_weights(b, node, conv, dy, desc, stored, err) &&
              primitive_label(b, PLAN_BACKWARD_WEIGHTS, desc) &&
              build_step(b, node, run_weights, conv, err);
    dnnl_primitive_desc_destroy(desc);
    return ok;
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct conv *conv = layer;
    struct buffer *dy[2];
    struct stored stored;
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    if (node->relu && !build_mask(b, node, conv, &dy[0], err))
        return false;
    bool ok = stored_make(&stored, b, node, err) &&
              build_weights(b, node, conv, dy[0], &stored, err) &&
              (!b->graph->values[node->input].wants_grad ||
               build_data(b, node, conv, dy[0], &stored, err));
    stored_free(&stored);
    gradient_drop(dy[0]);
    return ok;
}

const struct layer_kind layer_conv = {forward, backward};
