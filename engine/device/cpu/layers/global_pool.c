/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/layers/kinds.h"

/* Global average pooling: blocks of channels in, plain channels out. */
struct global_pool {
    const struct buffer *x, *y, *dy, *dx;
    int rows, channels, filled, block;
    size_t pixels;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    const float *x = g->x->data;
    float *y = g->y->data;
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
    const float *dy = g->dy->data;
    float *dx = g->dx->data;
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

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct value *x = &b->graph->values[node->input];
    struct global_pool *g = *layer = build_object(b, sizeof *g, NULL, err);
    if (!g)
        return false;
    g->rows = b->rows;
    g->channels = x->shape.c;
    g->filled = value_channels(x);
    g->block = x->block;
    g->pixels = (size_t)value_pixels(x);
    g->x = build_value(b, node->input, err);
    g->y = g->x ? build_value(b, node->output, err) : NULL;
    return g->y && build_step(b, node, run_forward, g, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct global_pool *g = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = gradient_new(b, node->input, err);
    if (!dx)
        return false;
    g->dy = dy[0];
    g->dx = dx;
    if (!build_step(b, node, run_backward, g, err) || !gradient_give(b, node, node->input, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind layer_global_pool = {forward, backward};
