/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/layers/deferred.h"
#include "engine/device/cpu/layers/elementwise.h"

/*
 * y = x W^T + bias [ReLU] by the library's matrix multiplication. W's rows are stored in the order
 * of x, whatever its layout, so x is never rearranged.
 */
struct linear {
    const struct buffer *x, *y, *dy;
    struct buffer *masked, *dx;
    const float *weights, *bias;
    float *dweights, *dbias;
    int rows, in, out;
    bool relu;
    struct deferred kept; /* of a stage: for plan_finish */
    int batch_rows;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    float *y = l->y->data;
    (void)plan;
    if (!dnnl_check(dnnl_sgemm('N', 'T', l->rows, l->out, l->in, 1, l->x->data, l->in, l->weights,
                               l->in, 0, y, l->out),
                    "matrix multiplication", err))
        return false;
    if (!l->bias && !l->relu)
        return true;
#pragma omp parallel for schedule(static) if ((size_t)l->rows * l->out >= 16384)
    for (int n = 0; n < l->rows; n++) {
        for (int o = 0; o < l->out; o++) {
            float v = y[(size_t)n * l->out + o] + (l->bias ? l->bias[o] : 0);
            y[(size_t)n * l->out + o] = l->relu && v < 0 ? 0 : v;
        }
    }
    return true;
}

static bool run_mask(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    (void)plan;
    (void)err;
    elementwise_relu_backward(l->y->data, l->dy->data, l->masked->data,
                              (size_t)l->rows * (size_t)l->out);
    return true;
}

/* Of `rows` rows. */
static bool make_gradients(const struct linear *l, const float *x, const float *dy, int rows,
                           bool adds, struct error *err)
{
    if (l->dbias) {
#pragma omp parallel for schedule(static) if ((size_t)rows * l->out >= 16384)
        for (int o = 0; o < l->out; o++) {
            double sum = adds ? (double)l->dbias[o] : 0;
            for (int n = 0; n < rows; n++)
                sum += (double)dy[(size_t)n * l->out + o];
            l->dbias[o] = (float)sum;
        }
    }
    return dnnl_check(dnnl_sgemm('T', 'N', l->out, l->in, rows, 1, dy, l->out, x, l->in,
                                 adds ? 1 : 0, l->dweights, l->in),
                      "matrix multiplication", err);
}

static bool run_weights(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return make_gradients(l, l->x->data, l->masked->data, l->rows, plan_core_adds(&plan->core),
                          err);
}

static bool run_finish(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    (void)plan;
    return make_gradients(l, l->kept.x.to->data, l->kept.dy.to->data, l->batch_rows, false, err);
}

static bool run_data(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    (void)plan;
    return dnnl_check(dnnl_sgemm('N', 'N', l->rows, l->in, l->out, 1, l->masked->data, l->out,
                                 l->weights, l->in, 0, l->dx->data, l->in),
                      "matrix multiplication", err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct linear *l = *layer = build_object(b, sizeof *l, NULL, err);
    if (!l)
        return false;
    l->rows = b->rows;
    l->in = (int)value_row(&b->graph->values[node->input]);
    l->out = b->graph->values[node->output].shape.c;
    l->relu = node->relu;
    l->weights = param_values(b, op->weight);
    l->bias = param_values(b, node->bias);
    l->x = build_value(b, node->input, err);
    l->y = l->x ? build_value(b, node->output, err) : NULL;
    return l->y && build_step(b, node, run_forward, l, err);
}

static bool build_mask(struct builder *b, const struct node *node, struct linear *l,
                       struct buffer *dy, struct error *err)
{
    if (!node->relu) {
        l->masked = dy;
        return true;
    }
    l->dy = dy;
    l->masked = gradient_result(b, dy, node->output, err);
    if (!l->masked)
        return false;
    build_use(b, b->values[node->output]);
    build_label(b, PLAN_BACKWARD_RELU, "");
    return build_step(b, node, run_mask, l, err);
}

/* A step that computes the gradients. */
static bool build_gradients(struct builder *b, const struct node *node, struct linear *l,
                            step_function *run, struct error *err)
{
    l->dweights = param_grads(b, b->graph->net->ops[node->op].weight);
    l->dbias = param_grads(b, node->bias);
    build_label(b, PLAN_BACKWARD_WEIGHTS, "");
    return build_step(b, node, run, l, err);
}

static bool build_weights(struct builder *b, const struct node *node, struct linear *l,
                          struct error *err)
{
    struct buffer *x = b->values[node->input];
    if (!deferred_pays(b, (size_t)l->in * (size_t)l->out, (size_t)l->in + (size_t)l->out)) {
        build_use(b, l->masked);
        build_use(b, x);
        return build_gradients(b, node, l, run_weights, err);
    }
    return deferred_build(b, node, x, NULL, l->masked, &l->kept, err);
}

static bool finish(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct linear *l = layer;
    l->batch_rows = b->rows;
    return !l->kept.x.to || build_gradients(b, node, l, run_finish, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct linear *l = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err) || !build_mask(b, node, l, dy[0], err) ||
        !build_weights(b, node, l, err))
        return false;
    if (b->graph->values[node->input].wants_grad) {
        l->dx = gradient_new(b, node->input, err);
        if (!l->dx)
            return false;
        build_use(b, l->masked);
        build_label(b, PLAN_BACKWARD_DATA, "");
        if (!build_step(b, node, run_data, l, err) ||
            !gradient_give(b, node, node->input, l->dx, err))
            return false;
    }
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind layer_linear = {.forward = forward, .backward = backward, .finish = finish};
