/* SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/plan/unary_layer.h"

/*
 * Which numbers are dropped depends on (seed, epoch, row of the data set, operation, place in the
 * c,h,w order) alone, so the masks do not change with the split or the layout. The backward pass
 * computes them again.
 */
struct dropout {
    struct unary_layer base;
    struct value value;
    int op, rows;
    uint32_t first; /* place of its first number in the whole network's value */
    uint32_t threshold;
    float scale;
};

/* One row: to = from where kept, scaled; 0 elsewhere. */
INLINE void drop_row(const struct dropout *d, const struct rng_stream *stream, const void *from,
                     void *to, const bool bf16)
{
    const int channels = value_channels(&d->value), pixels = value_pixels(&d->value);
    const int block = d->value.block;
    uint32_t words[4];
    for (int c = 0; c < channels; c++) {
        const size_t start = (size_t)(c / block) * pixels * block + c % block;
        for (int i = 0; i < pixels; i++) {
            const size_t at = start + (size_t)i * block;
            if (c >= d->value.shape.c) {
                number_put(to, at, 0, bf16);
                continue;
            }
            const uint32_t element = d->first + (uint32_t)c * (uint32_t)pixels + (uint32_t)i;
            if (element % 4 == 0 || element == d->first)
                rng_block(stream, element / 4, words);
            const bool dropped = words[element % 4] < d->threshold;
            number_put(to, at, dropped ? 0 : number_get(from, at, bf16) * d->scale, bf16);
        }
    }
}

static void drop(const struct plan *plan, const struct dropout *d, const void *from, void *to)
{
    const struct batch *batch = plan->core.batch;
    const size_t row = value_row(&d->value);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < d->rows; n++) {
        const struct rng_stream stream =
            rng_stream(batch->seed, RNG_DROPOUT, (uint32_t)d->op, batch->index[n], batch->epoch);
        const size_t at = (size_t)n * row;
        if (plan->bf16)
            drop_row(d, &stream, number_in(from, at, true), number_at(to, at, true), true);
        else
            drop_row(d, &stream, number_in(from, at, false), number_at(to, at, false), false);
    }
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct dropout *d = layer;
    (void)err;
    drop(plan, d, d->base.x->data, d->base.y->data);
    return true;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct dropout *d = layer;
    (void)err;
    drop(plan, d, d->base.dy->data, d->base.dx->data);
    return true;
}

static bool is_alias(const struct builder *b, const struct node *node)
{
    (void)node;
    return !b->training;
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct dropout *d = object;
    (void)err;
    d->value = b->graph->values[node->input];
    d->op = op->origin;
    d->first = (uint32_t)op->first * (uint32_t)value_pixels(&d->value);
    d->rows = b->rows;
    d->threshold = rng_threshold(op->p);
    d->scale = (float)(1 / (1 - op->p));
    return true;
}

static const struct unary_kind dropout = {.size = sizeof(struct dropout),
                                          .is_alias = is_alias,
                                          .prepare = prepare,
                                          .run = run_forward,
                                          .run_backward = run_backward,
                                          .in_place = true};

const struct layer_kind layer_dropout = {.unary = &dropout};
