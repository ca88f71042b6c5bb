/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"

/*
 * All-gather: all channels of a value, of which each device has made some. They lie in memory that
 * is one for all devices: each writes its own there. In the backward pass each has a gradient of
 * all channels, by what it computes from them, and adds up those of its own (reduce-scatter), in
 * the order of the devices, unless it has the whole gradient, as of the logits.
 */
struct gather {
    struct value own, whole;
    int rows, first;
    struct buffer *x, *y, *dy, *dx;
};

/* Where channel `c` of a row begins. */
static size_t channel_place(const struct value *v, int c)
{
    return (size_t)(c / v->block) * (size_t)value_pixels(v) * (size_t)v->block +
           (size_t)(c % v->block);
}

/* Are the channels whole blocks, so that they lie together? */
static bool is_aligned(const struct gather *g)
{
    const int end = g->first + g->own.shape.c;
    return g->first % g->whole.block == 0 && (end % g->whole.block == 0 || end == g->whole.shape.c);
}

/* Numbers of a row of the device's channels. */
static size_t own_row(const struct gather *g)
{
    return value_row(&g->own);
}

/* One row, number by number. */
static void put_row(const struct gather *g, const float *own, float *whole)
{
    const int pixels = value_pixels(&g->own);
    for (int c = 0; c < g->own.shape.c; c++) {
        const float *from = own + channel_place(&g->own, c);
        float *to = whole + channel_place(&g->whole, g->first + c);
        for (int i = 0; i < pixels; i++)
            to[(size_t)i * (size_t)g->whole.block] = from[(size_t)i * (size_t)g->own.block];
    }
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const float *own = g->x->data;
    float *whole = g->y->data;
    const size_t row = value_row(&g->whole), place = channel_place(&g->whole, g->first);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++) {
        const float *from = own + (size_t)n * own_row(g);
        float *to = whole + (size_t)n * row;
        if (is_aligned(g))
            memcpy(to + place, from, own_row(g) * sizeof *to);
        else
            put_row(g, from, to);
    }
    return exchange->wait(exchange->context, NULL, NULL, err);
}

/* Add a row of a gradient of all channels to that of the device's, or begin with it. */
static void take_row(const struct gather *g, const float *whole, bool begin, float *own)
{
    const size_t place = channel_place(&g->whole, g->first), count = own_row(g);
    if (is_aligned(g)) {
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            own[i] = (begin ? 0 : own[i]) + whole[place + i];
        return;
    }
    if (begin)
        memset(own, 0, count * sizeof *own);
    for (int c = 0; c < g->own.shape.c; c++) {
        const float *from = whole + channel_place(&g->whole, g->first + c);
        float *to = own + channel_place(&g->own, c);
        for (int i = 0; i < value_pixels(&g->own); i++)
            to[(size_t)i * (size_t)g->own.block] += from[(size_t)i * (size_t)g->whole.block];
    }
}

static void take_rows(const struct gather *g, const float *const *all, int count)
{
    const size_t row = value_row(&g->whole);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        for (int i = 0; i < count; i++)
            take_row(g, all[i] + (size_t)n * row, i == 0,
                     (float *)g->dx->data + (size_t)n * own_row(g));
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const float *const *all;
    if (!exchange->wait(exchange->context, g->dy->data, &all, err))
        return false;
    take_rows(g, all, exchange->count);
    /* What others still read may not be written over. */
    return exchange->wait(exchange->context, NULL, NULL, err);
}

static bool run_whole_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const float *const dy = g->dy->data;
    (void)plan;
    (void)err;
    take_rows(g, &dy, 1);
    return true;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct device_exchange *exchange = &b->core->request.exchange;
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct gather *g = *layer = build_object(b, sizeof *g, NULL, err);
    if (!g)
        return false;
    if (!exchange->values)
        return error_set(err, ERROR_FAILED, "a slice without an exchange");
    g->own = b->graph->values[node->input];
    g->whole = b->graph->values[node->output];
    g->rows = b->rows;
    g->first = op->first;
    g->x = build_value(b, node->input, err);
    float *shared =
        g->x ? exchange->values(exchange->context, op->origin, value_row(&g->whole), err) : NULL;
    g->y = shared ? build_fixed(b, shared, err) : NULL;
    b->values[node->output] = g->y;
    return g->y && build_step(b, node, run_forward, g, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    const bool parts = b->graph->net->ops[node->op].parts;
    struct gather *g = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    g->dy = dy[0];
    g->dx = gradient_new(b, node->input, err);
    bool ok = g->dx && build_step(b, node, parts ? run_backward : run_whole_backward, g, err) &&
              gradient_give(b, node, node->input, g->dx, err);
    gradient_drop(dy[0]);
    return ok;
}

const struct layer_kind layer_gather = {.forward = forward, .backward = backward};
