/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"

/*
 * All-gather: all channels of a value, or all its rows, of which each device has made some. They
 * lie in memory that is one for all devices: each writes its own there. In the backward pass each
 * has a gradient of all, by what it computes from them, and adds up those of its own
 * (reduce-scatter), in the order of the devices, unless it has the whole gradient, as of the
 * logits.
 */
struct gather;

/* Sum up what `count` gradients of all have of the device's own. */
typedef void take_function(const struct gather *g, const void *const *all, int count);

struct gather {
    struct value own, whole;
    int rows, first; /* the device's own rows; its first channel, or row, among all */
    take_function *take;
    struct buffer *x, *y, *dy, *dx; /* x, dx: NULL without rows */
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

static void take_channels(const struct gather *g, const void *const *all, int count)
{
    const size_t row = value_row(&g->whole);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        for (int i = 0; i < count; i++)
            take_row(g, (const float *)all[i] + (size_t)n * row, i == 0,
                     (float *)g->dx->data + (size_t)n * own_row(g));
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const void *const *all;
    if (!exchange->wait(exchange->context, g->dy->data, &all, err))
        return false;
    g->take(g, all, exchange->count);
    /* What others still read may not be written over. */
    return exchange->wait(exchange->context, NULL, NULL, err);
}

static bool run_whole_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const void *const dy = g->dy->data;
    (void)plan;
    (void)err;
    g->take(g, &dy, 1);
    return true;
}

static bool build_gather(struct builder *b, const struct node *node, const struct gather *kind,
                         step_function *run, void **layer, struct error *err)
{
    const struct device_exchange *exchange = &b->core->request.exchange;
    struct gather *g = *layer = build_object(b, sizeof *g, NULL, err);
    if (!g)
        return false;
    if (!exchange->values)
        return error_set(err, ERROR_FAILED, "a slice without an exchange");
    *g = *kind;
    g->own = b->graph->values[node->input];
    g->whole = b->graph->values[node->output];
    g->rows = b->rows;
    if (g->rows > 0 && !(g->x = build_value(b, node->input, err)))
        return false;
    float *shared = exchange->values(exchange->context, b->graph->net->ops[node->op].origin,
                                     value_row(&g->whole), err);
    g->y = shared ? build_fixed(b, shared, err) : NULL;
    b->values[node->output] = g->y;
    return g->y && build_step(b, node, run, g, err);
}

static bool build_scatter(struct builder *b, const struct node *node, struct gather *g,
                          struct buffer *dy, struct error *err)
{
    const bool parts = b->graph->net->ops[node->op].parts;
    g->dy = dy;
    if (g->rows > 0 && !(g->dx = gradient_new(b, node->input, err)))
        return false;
    bool ok = build_step(b, node, parts ? run_backward : run_whole_backward, g, err) &&
              (!g->dx || gradient_give(b, node, node->input, g->dx, err));
    gradient_drop(dy);
    return ok;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct gather kind = {.first = b->graph->net->ops[node->op].first, .take = take_channels};
    return build_gather(b, node, &kind, run_forward, layer, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct buffer *dy[2];
    return gradient_take(b, node, node->output, 1, dy, err) &&
           build_scatter(b, node, layer, dy[0], err);
}

const struct layer_kind layer_gather = {.forward = forward, .backward = backward};

static bool run_forward_rows(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const size_t row = own_row(g);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        memcpy((float *)g->y->data + (size_t)(g->first + n) * row,
               (const float *)g->x->data + (size_t)n * row, row * sizeof(float));
    return exchange->wait(exchange->context, NULL, NULL, err);
}

static void take_rows(const struct gather *g, const void *const *all, int count)
{
    const size_t row = own_row(g);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++) {
        float *own = (float *)g->dx->data + (size_t)n * row;
        memcpy(own, (const float *)all[0] + (size_t)(g->first + n) * row, row * sizeof *own);
        for (int i = 1; i < count; i++) {
            const float *part = (const float *)all[i] + (size_t)(g->first + n) * row;
#pragma omp simd
            for (size_t k = 0; k < row; k++)
                own[k] += part[k];
        }
    }
}

static bool forward_rows(struct builder *b, const struct node *node, void **layer,
                         struct error *err)
{
    const struct gather kind = {.first = b->core->request.rows_before, .take = take_rows};
    return build_gather(b, node, &kind, run_forward_rows, layer, err);
}

static bool backward_rows(struct builder *b, const struct node *node, void *layer,
                          struct error *err)
{
    struct buffer *dy[2];
    build_rows(b, true); /* the gradient that is taken is of all rows */
    bool ok = gradient_take(b, node, node->output, 1, dy, err);
    build_rows(b, false);
    return ok && build_scatter(b, node, layer, dy[0], err);
}

const struct layer_kind layer_gather_rows = {.forward = forward_rows, .backward = backward_rows};
