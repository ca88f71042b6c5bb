/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/plan/unary_layer.h"

/* Global average pooling: blocks of channels in, plain channels out. */
struct global_pool {
    struct unary_layer base;
    int rows, channels, filled, block;
    size_t pixels;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    const float *x = g->base.x->data;
    float *y = g->base.y->data;
    (void)plan;
    (void)err;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++) {
        for (int c = 0; c < g->channels; c++) {
            const float *p = x + (size_t)n * g->filled * g->pixels +
                             (size_t)(c / g->block) * g->pixels * g->block + c % g->block;
            float sum = 0;
            for (size_t i = 0; i < g->pixels; i++)
                sum += p[i * g->block];
            y[(size_t)n * g->channels + c] = sum / (float)g->pixels;
        }
    }
    return true;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    const float *dy = g->base.dy->data;
    float *dx = g->base.dx->data;
    (void)plan;
    (void)err;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++) {
        for (int c = 0; c < g->filled; c++) {
            float *p = dx + (size_t)n * g->filled * g->pixels +
                       (size_t)(c / g->block) * g->pixels * g->block + c % g->block;
            float share = c < g->channels ? dy[(size_t)n * g->channels + c] / (float)g->pixels : 0;
            for (size_t i = 0; i < g->pixels; i++)
                p[i * g->block] = share;
        }
    }
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
