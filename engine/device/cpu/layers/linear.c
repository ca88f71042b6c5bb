/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/layers/deferred.h"
#include "engine/device/cpu/layers/elementwise.h"
#include "engine/device/cpu/layers/product.h"

/*
 * y = x W^T + bias [ReLU] by the library's matrix multiplication. W's rows are stored in the order
 * of x, whatever its layout, so x is never rearranged. Values of bf16 take the library's primitives
 * instead of its plain function.
 */
struct linear {
    struct primitive y_product, w_product, x_product; /* of bf16 */
    struct buffer *sum;                               /* of w_product, where it is added; or NULL */
    const struct buffer *x, *y, *dy;
    struct buffer *masked, *dx;
    float *weights, *bias;
    float *dweights, *dbias;
    int rows, in, out;
    bool relu;
    struct deferred kept; /* of a stage: for plan_finish */
};

static void release(void *layer)
{
    struct linear *l = layer;
    primitive_release(&l->y_product);
    primitive_release(&l->w_product);
    primitive_release(&l->x_product);
}

static bool run_forward_bf16(struct plan *plan, struct linear *l, struct error *err)
{
    if (!primitive_run(plan->device, &l->y_product, err))
        return false;
    if (l->relu)
        elementwise_relu(l->y->data, l->y->data, (size_t)l->rows * (size_t)l->out, true);
    return true;
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    struct linear *l = layer;
    float *y = l->y->data;
    if (plan->bf16)
        return run_forward_bf16(plan, l, err);
    if (!dnnl_check(dnnl_sgemm('N', 'T', l->rows, l->out, l->in, 1, l->x->data, l->in, l->weights,
                               l->in, 0, y, l->out),
                    "matrix multiplication", err))
        return false;
    if (!l->bias && !l->relu)
        return true;
#pragma omp parallel for schedule(static) if ((size_t)l->rows * l->out >= PARALLEL_FROM)
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
    (void)err;
    elementwise_relu_backward(l->y->data, l->dy->data, l->masked->data,
                              (size_t)l->rows * (size_t)l->out, plan->bf16);
    return true;
}

INLINE double bias_sum(const struct linear *l, const void *dy, int o, int rows, const bool bf16)
{
    double sum = 0;
    for (int n = 0; n < rows; n++)
        sum += (double)number_get(dy, (size_t)n * l->out + o, bf16);
    return sum;
}

static void make_bias_gradient(const struct linear *l, const void *dy, int rows, bool adds,
                               bool bf16)
{
#pragma omp parallel for schedule(static) if ((size_t)rows * l->out >= PARALLEL_FROM)
    for (int o = 0; o < l->out; o++)
        l->dbias[o] =
            (float)((adds ? (double)l->dbias[o] : 0) +
                    (bf16 ? bias_sum(l, dy, o, rows, true) : bias_sum(l, dy, o, rows, false)));
}

static bool make_gradients_bf16(const struct plan *plan, struct linear *l, struct error *err)
{
    const size_t count = (size_t)l->in * (size_t)l->out;
    if (!primitive_run(plan->device, &l->w_product, err))
        return false;
    if (l->sum && plan->core.adds)
        elementwise_add(l->dweights, l->sum->data, false, l->dweights, count, false);
    else if (l->sum)
        memcpy(l->dweights, l->sum->data, count * sizeof *l->dweights);
    return true;
}

/* Of `rows` rows. */
static bool make_gradients(const struct plan *plan, struct linear *l, const void *x, const void *dy,
                           int rows, struct error *err)
{
    const bool adds = plan->core.adds;
    if (l->dbias)
        make_bias_gradient(l, dy, rows, adds, plan->bf16);
    if (plan->bf16)
        return make_gradients_bf16(plan, l, err);
    return dnnl_check(dnnl_sgemm('T', 'N', l->out, l->in, rows, 1, dy, l->out, x, l->in,
                                 adds ? 1 : 0, l->dweights, l->in),
                      "matrix multiplication", err);
}

static bool run_weights(struct plan *plan, void *layer, struct error *err)
{
    struct linear *l = layer;
    return make_gradients(plan, l, l->x->data, l->masked->data, l->rows, err);
}

static bool run_finish(struct plan *plan, void *layer, struct error *err)
{
    struct linear *l = layer;
    if (plan->bf16) /* whose product has all rows of the plan */
        deferred_clear_rest(plan, &l->kept);
    return make_gradients(plan, l, l->kept.x.to->data, l->kept.dy.to->data,
                          plan->core.deferred_rows, err);
}

static bool run_data(struct plan *plan, void *layer, struct error *err)
{
    struct linear *l = layer;
    if (plan->bf16)
        return primitive_run(plan->device, &l->x_product, err);
    return dnnl_check(dnnl_sgemm('N', 'N', l->rows, l->in, l->out, 1, l->masked->data, l->out,
                                 l->weights, l->in, 0, l->dx->data, l->in),
                      "matrix multiplication", err);
}

/* The weights W, or W^T. */
static struct matrix weights_of(const struct linear *l, struct buffer *buffer, bool transposed)
{
    return (struct matrix){ARGUMENT_WEIGHTS, buffer, transposed ? l->in : l->out,
                           transposed ? l->out : l->in, transposed};
}

static struct matrix values_of(struct buffer *buffer, int rows, int columns)
{
    return (struct matrix){ARGUMENT_VALUE, buffer, rows, columns, false};
}

static bool build_forward_bf16(struct builder *b, struct linear *l, struct buffer *x,
                               struct buffer *y, struct error *err)
{
    struct buffer *w = build_fixed(b, l->weights, err), *bias = NULL;
    if (!w || (l->bias && !(bias = build_fixed(b, l->bias, err))))
        return false;
    const struct matrix left = values_of(x, l->rows, l->in), right = weights_of(l, w, true),
                        result = values_of(y, l->rows, l->out);
    return product_make(b, &l->y_product, PLAN_FORWARD, &left, &right, bias, &result, err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct linear *l = *layer = build_object(b, sizeof *l, release, err);
    if (!l)
        return false;
    l->rows = b->rows;
    l->in = (int)value_row(&b->graph->values[node->input]);
    l->out = b->graph->values[node->output].shape.c;
    l->relu = node->relu;
    l->weights = param_values(b, op->weight);
    l->bias = param_values(b, node->bias);
    struct buffer *x = build_value(b, node->input, err);
    struct buffer *y = x ? build_value(b, node->output, err) : NULL;
    l->x = x;
    l->y = y;
    return y && (!b->plan->bf16 || build_forward_bf16(b, l, x, y, err)) &&
           build_step(b, node, run_forward, l, err);
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

/* A stage adds them to those of other micro-batches. */
static bool build_gradients_bf16(struct builder *b, struct linear *l, struct buffer *x,
                                 struct buffer *dy, struct error *err)
{
    const bool adds = b->core->request.slots > 0;
    struct buffer *dw = adds ? build_scratch(b, (size_t)l->in * l->out * sizeof(float), err)
                             : build_fixed(b, l->dweights, err);
    struct matrix left = values_of(dy, l->out, b->rows), right = values_of(x, b->rows, l->in),
                  result = weights_of(l, dw, false);
    left.transposed = true;
    l->sum = adds ? dw : NULL;
    return dw &&
           product_make(b, &l->w_product, PLAN_BACKWARD_WEIGHTS, &left, &right, NULL, &result, err);
}

/* A step that computes the gradients from x and dy. */
static bool build_gradients(struct builder *b, const struct node *node, struct linear *l,
                            struct buffer *x, struct buffer *dy, step_function *run,
                            struct error *err)
{
    l->dweights = param_grads(b, b->graph->net->ops[node->op].weight);
    l->dbias = param_grads(b, node->bias);
    build_use(b, dy);
    build_use(b, x);
    build_label(b, PLAN_BACKWARD_WEIGHTS, "");
    return (!b->plan->bf16 || build_gradients_bf16(b, l, x, dy, err)) &&
           build_step(b, node, run, l, err);
}

static bool build_weights(struct builder *b, const struct node *node, struct linear *l,
                          struct error *err)
{
    struct buffer *x = b->values[node->input];
    if (!deferred_pays(b, (size_t)l->in * (size_t)l->out, (size_t)l->in + (size_t)l->out))
        return build_gradients(b, node, l, x, l->masked, run_weights, err);
    return deferred_build(b, node, x, NULL, l->masked, &l->kept, err);
}

static bool finish(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct linear *l = layer;
    return !l->kept.x.to ||
           build_gradients(b, node, l, l->kept.x.to, l->kept.dy.to, run_finish, err);
}

static bool build_data_bf16(struct builder *b, struct linear *l, struct error *err)
{
    struct buffer *w = build_fixed(b, l->weights, err);
    const struct matrix left = values_of(l->masked, l->rows, l->out),
                        right = weights_of(l, w, false), result = values_of(l->dx, l->rows, l->in);
    return w &&
           product_make(b, &l->x_product, PLAN_BACKWARD_DATA, &left, &right, NULL, &result, err);
}

static bool build_data(struct builder *b, const struct node *node, struct linear *l,
                       struct error *err)
{
    l->dx = gradient_new(b, node->input, err);
    if (!l->dx)
        return false;
    build_use(b, l->masked);
    build_label(b, PLAN_BACKWARD_DATA, "");
    return (!b->plan->bf16 || build_data_bf16(b, l, err)) &&
           build_step(b, node, run_data, l, err) && gradient_give(b, node, node->input, l->dx, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct linear *l = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err) || !build_mask(b, node, l, dy[0], err) ||
        !build_weights(b, node, l, err) ||
        (b->graph->values[node->input].wants_grad && !build_data(b, node, l, err)))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind layer_linear = {.forward = forward, .backward = backward, .finish = finish};
