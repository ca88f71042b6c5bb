/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/plan/unary_layer.h"

/* Global average pooling: blocks of channels in, plain channels out. */
struct global_pool {
    struct unary_layer base;
    int rows, channels, filled, block;
    size_t pixels;
};

/* The index of the first number of channel `c` of row `n`. */
static inline size_t channel_at(const struct global_pool *g, int n, int c)
{
    return (size_t)n * g->filled * g->pixels + (size_t)(c / g->block) * g->pixels * g->block +
           c % g->block;
}

INLINE void pool_row(const struct global_pool *g, int n, const bool bf16)
{
    for (int c = 0; c < g->channels; c++) {
        const size_t at = channel_at(g, n, c);
        float sum = 0;
        for (size_t i = 0; i < g->pixels; i++)
            sum += number_get(g->base.x->data, at + i * g->block, bf16);
        number_put(g->base.y->data, (size_t)n * g->channels + c, sum / (float)g->pixels, bf16);
    }
}

INLINE void spread_row(const struct global_pool *g, int n, const bool bf16)
{
    const void *dy = g->base.dy->data;
    for (int c = 0; c < g->filled; c++) {
        const size_t at = channel_at(g, n, c), own = (size_t)n * g->channels + c;
        const float share = c < g->channels ? number_get(dy, own, bf16) / (float)g->pixels : 0;
        for (size_t i = 0; i < g->pixels; i++)
            number_put(g->base.dx->data, at + i * g->block, share, bf16);
    }
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    (void)err;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        if (plan->bf16)
            pool_row(g, n, true);
        else
            pool_row(g, n, false);
    return true;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    (void)err;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        if (plan->bf16)
            spread_row(g, n, true);
        else
            spread_row(g, n, false);
    return true;
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    const struct value *x = &b->graph->values[node->input];
    struct global_pool *g = object;
    (void)err;
    g->rows = b->rows;
    g->channels = x->shape.c;
    g->filled = value_channels(x);
    g->block = x->block;
    g->pixels = (size_t)value_pixels(x);
    return true;
}

static const struct unary_kind global_avgpool = {.size = sizeof(struct global_pool),
                                                 .prepare = prepare,
                                                 .run = run_forward,
                                                 .run_backward = run_backward};

const struct layer_kind layer_global_avgpool = {.unary = &global_avgpool};
