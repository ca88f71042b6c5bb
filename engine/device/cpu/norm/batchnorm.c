/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/norm/batchnorm.h"

#include "engine/device/cpu/autotune/choose.h"
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/norm/run.h"

/* From this size on a tensor is written past the caches: nothing of it would be left there when it
 * is read next. */
#define STREAM_BYTES ((size_t)4 << 20)

/* A channel block of which two tensors take this much is worked on by all threads together: what
 * the sums read is then still in the third-level cache when it is read again. */
#define TOGETHER_BYTES ((size_t)16 << 20)

/* Smaller results are kept: the memory is not worth a step of its own. */
#define RECOMPUTE_BYTES ((size_t)16 << 10)

static int greatest_common_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Cut rows only as far as all threads need for an equal share of the channel blocks. */
static int choose_chunks(int blocks, int threads, int rows)
{
    if (blocks % threads == 0 || blocks >= 8 * threads)
        return 1;
    int chunks = threads / greatest_common_divisor(blocks, threads);
    return chunks < rows ? chunks : rows > 0 ? rows : 1;
}

/* How channel blocks and their rows are divided among threads. */
static void divide_work(struct batchnorm *n, int threads)
{
    const size_t block_bytes =
        2 * (size_t)n->rows * n->pixels * (size_t)n->block * number_size(n->kernels->bf16);
    n->threads = threads;
    n->together = !n->sync && threads > 1 && n->rows >= threads && block_bytes >= TOGETHER_BYTES;
    n->chunks = n->together ? threads : choose_chunks(n->blocks, threads, n->rows);
}

static void bind_parameters(struct batchnorm *n, const struct builder *b, const struct node *node)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    n->eps = op->eps;
    n->momentum = op->momentum;
    n->gamma = param_values(b, op->weight);
    n->beta = param_values(b, op->bias);
    n->running_mean = param_values(b, op->running_mean);
    n->running_var = param_values(b, op->running_var);
    n->gathered_mean = param_moments(b, op->running_mean);
    n->gathered_squares = param_moments(b, op->running_var);
    n->input_bias = param_values(b, node->input_bias);
    n->residual_bias = param_values(b, node->residual_bias);
}

/* Those of the step being built. */
static void bind_gradients(struct batchnorm *n, struct builder *b, const struct node *node)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    n->dgamma = param_grads(b, op->weight);
    n->dbeta = param_grads(b, op->bias);
    n->dinput_bias = param_grads(b, node->input_bias);
    n->dresidual_bias = param_grads(b, node->residual_bias);
}

static bool make_buffers(struct batchnorm *n, struct builder *b, const struct node *node,
                         struct error *err)
{
    size_t sums = ((size_t)n->blocks * n->chunks * n->block + (size_t)n->channels) * 2;
    size_t stats = (size_t)STAT_ARRAYS * (size_t)n->channels;
    n->stats = build_buffer(b, stats * sizeof(float), err);
    n->sums = n->stats ? build_buffer(b, sums * sizeof(double), err) : NULL;
    if (!n->sums)
        return false;
    build_use(b, n->stats);
    build_use(b, n->sums);
    if (b->rows == 0)
        return true;
    n->x = build_value(b, node->input, err);
    if (!n->x)
        return false;
    n->moments = b->plan->fusions[node->input].moments;
    if (n->moments)
        build_use(b, n->moments);
    if (!n->fused && !(n->y = build_value(b, node->output, err)))
        return false;
    if (!n->residual)
        return true;
    n->other = build_value(b, node->residual, err);
    if (!n->other || !b->training || !node->backward)
        return n->other != NULL;
    size_t words = (size_t)n->rows * n->blocks * n->pixels;
    n->mask = build_buffer(b, words * sizeof(uint16_t), err);
    if (n->mask)
        build_use(b, n->mask);
    return n->mask != NULL;
}

/* Whether the backward pass reads a value by asking for it, or not at all. */
static bool reads_by_asking(const struct builder *b, int value, bool *convolved)
{
    *convolved = false;
    for (int i = 0; i < b->graph->node_count; i++) {
        const struct node *n = &b->graph->nodes[i];
        if (n->input != value)
            continue; /* the backward pass of an addition does not read its residual */
        *convolved = *convolved || n->kind == NET_CONV;
        if (n->kind != NET_CONV && n->kind != NET_GLOBAL_AVGPOOL && n->kind != NET_ADD)
            return false;
    }
    return !graph_is_exit(b->graph, value);
}

/*
 * Whether the convolutions after it can do without y in memory: one pass over memory recomputes it
 * from x, which this layer keeps anyway. With a residual only if the backward pass needs that, too.
 */
static bool may_recompute(const struct batchnorm *n, const struct builder *b,
                          const struct node *node)
{
    const size_t bytes = (size_t)b->rows * value_row(&b->graph->values[node->output]) *
                         number_size(n->kernels->bf16);
    bool convolved;
    if (!b->training || bytes < RECOMPUTE_BYTES || !reads_by_asking(b, node->output, &convolved) ||
        !convolved)
        return false;
    return !n->residual || (reads_by_asking(b, node->residual, &convolved) && convolved);
}

/* Whether dx may be written over x: nobody else reads it, nor does the convolution that made it. */
static bool x_is_free(const struct builder *b, const struct node *node)
{
    if (b->graph->values[node->input].readers != 1 || graph_is_exit(b->graph, node->input))
        return false;
    for (const struct node *n = b->graph->nodes; n < node; n++)
        if (n->output == node->input)
            return n->kind == NET_CONV && !n->relu;
    return false;
}

static bool build_recompute_step(struct builder *b, const struct node *node, void *layer,
                                 struct buffer *to, struct error *err)
{
    struct batchnorm *copy = build_object(b, sizeof *copy, NULL, err);
    if (!copy)
        return false;
    *copy = *(const struct batchnorm *)layer;
    copy->y = to;
    copy->mask = NULL;
    if (copy->residual && !(copy->other = build_forward_value(b, node->residual, err)))
        return false;
    build_use(b, copy->x);
    build_use(b, copy->stats);
    build_use(b, to);
    build_label(b, PLAN_FORWARD_AGAIN, "");
    return build_step(b, node, batchnorm_run_recompute, copy, err);
}

static bool reader_fuses(const struct builder *b, const struct node *node, bool *yes,
                         struct error *err)
{
    *yes = node->kind == NET_CONV;
    if (*yes && !conv_fuses(b, node, CONV_FORWARD, yes, err))
        return false;
    return !*yes || !node->backward || conv_fuses(b, node, CONV_BACKWARD_WEIGHTS, yes, err);
}

/* Whether all readers of the result are convolutions that can compute it as they read x. */
static bool can_fuse(const struct builder *b, const struct node *node, bool *yes, struct error *err)
{
    *yes = b->training && b->rows > 0 && node->relu && node->residual == NET_NONE &&
           !graph_is_exit(b->graph, node->output);
    for (int i = 0; *yes && i < b->graph->node_count; i++) {
        const struct node *reader = &b->graph->nodes[i];
        if (reader->residual == node->output)
            *yes = false;
        else if (reader->input == node->output && !reader_fuses(b, reader, yes, err))
            return false;
    }
    return true;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct value *x = &b->graph->values[node->input];
    struct batchnorm *n = *layer = build_object(b, sizeof *n, NULL, err);
    if (!n)
        return false;
    n->kernels = kernels_find(x->block, b->plan->bf16);
    n->rows = b->rows;
    n->channels = value_channels(x);
    n->real = x->shape.c;
    n->block = x->block;
    n->blocks = n->channels / n->block;
    n->pixels = (size_t)value_pixels(x);
    n->relu = node->relu;
    n->residual = node->residual != NET_NONE;
    n->sync = b->core->request.sync_bn;
    n->wants_dx = x->wants_grad;
    divide_work(n, b->device->threads);
    n->stream = (size_t)n->rows * value_row(x) * number_size(n->kernels->bf16) >= STREAM_BYTES;
    bind_parameters(n, b, node);
    if (!can_fuse(b, node, &n->fused, err))
        return false;
    if (!n->fused && may_recompute(n, b, node))
        build_recomputed(b, node, build_recompute_step, n);
    if (!make_buffers(n, b, node, err))
        return false;
    if (n->fused)
        b->plan->fusions[node->output].norm =
            (struct fused_norm){.x = n->x,
                                .stats = n->stats,
                                .scale = (size_t)STAT_SCALE * (size_t)n->channels,
                                .shift = (size_t)STAT_SHIFT * (size_t)n->channels,
                                .bf16 = b->plan->bf16};
    if (n->fused && n->moments) { /* what is left looks at no value */
        build_label(b, PLAN_FORWARD, "fused");
        b->bytes = 0;
    }
    return build_step(b, node, b->training ? batchnorm_run_forward : batchnorm_run_evaluation, n,
                      err);
}

static bool take_gradients(struct batchnorm *n, struct builder *b, const struct node *node,
                           struct error *err)
{
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 2, dy, err))
        return false;
    n->dy = dy[0];
    n->dy2 = dy[1];
    build_use(b, n->x);
    if (n->residual) {
        build_use(b, n->mask);
        n->g = gradient_result(b, n->dy, node->output, err);
        if (!n->g)
            return false;
    }
    if (n->wants_dx)
        n->dx = x_is_free(b, node) ? n->x : gradient_new(b, node->input, err);
    return n->dx || !n->wants_dx;
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct batchnorm *n = layer;
    if (b->rows > 0 && !take_gradients(n, b, node, err))
        return false;
    build_use(b, n->stats);
    build_use(b, n->sums);
    bind_gradients(n, b, node);
    if (!build_step(b, node, batchnorm_run_backward, n, err))
        return false;
    if (b->rows == 0)
        return true;
    if (n->residual && !gradient_give(b, node, node->residual, n->g, err))
        return false;
    if (n->wants_dx && !gradient_give(b, node, node->input, n->dx, err))
        return false;
    gradient_drop(n->dy);
    if (n->dy2)
        gradient_drop(n->dy2);
    return true;
}

const struct layer_kind layer_batchnorm = {.forward = forward, .backward = backward};
