/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/number.h"
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
    bool bf16;
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
static void put_row(const struct gather *g, const void *own, void *whole)
{
    const size_t size = number_size(g->bf16);
    const int pixels = value_pixels(&g->own);
    for (int c = 0; c < g->own.shape.c; c++) {
        const size_t from = channel_place(&g->own, c), to = channel_place(&g->whole, g->first + c);
        for (size_t i = 0; i < (size_t)pixels; i++)
            memcpy(number_at(whole, to + i * (size_t)g->whole.block, g->bf16),
                   number_in(own, from + i * (size_t)g->own.block, g->bf16), size);
    }
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const size_t row = value_row(&g->whole), place = channel_place(&g->whole, g->first);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++) {
        const void *from = number_in(g->x->data, (size_t)n * own_row(g), g->bf16);
        void *to = number_at(g->y->data, (size_t)n * row, g->bf16);
        if (is_aligned(g))
            memcpy(number_at(to, place, g->bf16), from, own_row(g) * number_size(g->bf16));
        else
            put_row(g, from, to);
    }
    return exchange->wait(exchange->context, NULL, NULL, err);
}

/* Numbers that are added up at a time. */
#define CHUNK 256

/* Sums of the parts of all devices, in their order: own[at + i] of what is at all[][place + i]. */
INLINE void take_line(const void *const *all, int parts, size_t place, void *own, size_t at,
                      size_t count, const bool bf16)
{
    float sum[CHUNK];
    for (size_t done = 0; done < count; done += CHUNK) {
        const size_t chunk = count - done < CHUNK ? count - done : CHUNK;
#pragma omp simd
        for (size_t i = 0; i < chunk; i++)
            sum[i] = number_get(all[0], place + done + i, bf16);
        for (int part = 1; part < parts; part++)
#pragma omp simd
            for (size_t i = 0; i < chunk; i++)
                sum[i] += number_get(all[part], place + done + i, bf16);
#pragma omp simd
        for (size_t i = 0; i < chunk; i++)
            number_put(own, at + done + i, sum[i], bf16);
    }
}

static void take_together(const struct gather *g, const void *const *all, int parts, size_t place,
                          size_t at, size_t count)
{
    if (g->bf16)
        take_line(all, parts, place, g->dx->data, at, count, true);
    else
        take_line(all, parts, place, g->dx->data, at, count, false);
}

/* The same of a channel, whose numbers do not lie together. */
static void take_channel(const struct gather *g, const void *const *all, int parts, size_t place,
                         size_t at)
{
    for (size_t i = 0; i < (size_t)value_pixels(&g->own); i++) {
        float sum = 0;
        for (int part = 0; part < parts; part++)
            sum += number_get(all[part], place + i * (size_t)g->whole.block, g->bf16);
        number_put(g->dx->data, at + i * (size_t)g->own.block, sum, g->bf16);
    }
}

static void take_row(const struct gather *g, const void *const *all, int parts, int n)
{
    const size_t whole = (size_t)n * value_row(&g->whole), own = (size_t)n * own_row(g);
    if (is_aligned(g)) {
        take_together(g, all, parts, whole + channel_place(&g->whole, g->first), own, own_row(g));
        return;
    }
    memset(number_at(g->dx->data, own, g->bf16), 0, own_row(g) * number_size(g->bf16));
    for (int c = 0; c < g->own.shape.c; c++)
        take_channel(g, all, parts, whole + channel_place(&g->whole, g->first + c),
                     own + channel_place(&g->own, c));
}

static void take_channels(const struct gather *g, const void *const *all, int count)
{
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        take_row(g, all, count, n);
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
    g->bf16 = b->plan->bf16;
    g->own = b->graph->values[node->input];
    g->whole = b->graph->values[node->output];
    g->rows = b->rows;
    if (g->rows > 0 && !(g->x = build_value(b, node->input, err)))
        return false;
    void *shared = exchange->values(exchange->context, b->graph->net->ops[node->op].origin,
                                    value_row(&g->whole) * number_size(g->bf16), err);
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
        memcpy(number_at(g->y->data, (size_t)(g->first + n) * row, g->bf16),
               number_in(g->x->data, (size_t)n * row, g->bf16), row * number_size(g->bf16));
    return exchange->wait(exchange->context, NULL, NULL, err);
}

static void take_rows(const struct gather *g, const void *const *all, int count)
{
    const size_t row = own_row(g);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        take_together(g, all, count, (size_t)(g->first + n) * row, (size_t)n * row, row);
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
