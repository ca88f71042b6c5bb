/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"

/*
 * All-gather of rows: a value of the whole mini-batch, of which each device has made its rows. It
 * lies in memory that is one for all devices: each writes its own there. In the backward pass each
 * has a gradient of all rows, by what it computes from them, and adds up those of its own
 * (reduce-scatter), in the order of the devices, unless it has the whole gradient.
 */
struct gather_rows {
    int before, rows; /* in all rows, the device's own */
    size_t row;       /* numbers */
    const struct buffer *x, *y, *dy, *dx;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather_rows *g = layer;
    const struct device_exchange *exchange = &plan->core.request.exchange;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++)
        memcpy((float *)g->y->data + (size_t)(g->before + n) * g->row,
               (const float *)g->x->data + (size_t)n * g->row, g->row * sizeof(float));
    return exchange->wait(exchange->context, NULL, NULL, err);
}

static void take_rows(const struct gather_rows *g, const float *const *all, int count)
{
#pragma omp parallel for schedule(static)
    for (int n = 0; n < g->rows; n++) {
        float *own = (float *)g->dx->data + (size_t)n * g->row;
        memcpy(own, all[0] + (size_t)(g->before + n) * g->row, g->row * sizeof *own);
        for (int i = 1; i < count; i++) {
            const float *part = all[i] + (size_t)(g->before + n) * g->row;
#pragma omp simd
            for (size_t k = 0; k < g->row; k++)
                own[k] += part[k];
        }
    }
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather_rows *g = layer;
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
    const struct gather_rows *g = layer;
    const float *const dy = g->dy->data;
    (void)plan;
    (void)err;
    take_rows(g, &dy, 1);
    return true;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct device_exchange *exchange = &b->core->request.exchange;
    struct gather_rows *g = *layer = build_object(b, sizeof *g, NULL, err);
    if (!g)
        return false;
    if (!exchange->values)
        return error_set(err, ERROR_FAILED, "a slice without an exchange");
    g->before = b->core->request.rows_before;
    g->rows = b->rows;
    g->row = value_row(&b->graph->values[node->input]);
    if (g->rows > 0 && !(g->x = build_value(b, node->input, err)))
        return false;
    float *shared =
        exchange->values(exchange->context, b->graph->net->ops[node->op].origin, g->row, err);
    b->values[node->output] = shared ? build_fixed(b, shared, err) : NULL;
    g->y = b->values[node->output];
    return g->y && build_step(b, node, run_forward, g, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    const bool parts = b->graph->net->ops[node->op].parts;
    struct gather_rows *g = layer;
    struct buffer *dy[2], *dx = NULL;
    build_rows(b, true); /* the gradient that is taken is of all rows */
    bool ok = gradient_take(b, node, node->output, 1, dy, err);
    build_rows(b, false);
    if (!ok || (g->rows > 0 && !(dx = gradient_new(b, node->input, err))))
        return false;
    g->dy = dy[0];
    g->dx = dx;
    ok = build_step(b, node, parts ? run_backward : run_whole_backward, g, err) &&
         (!dx || gradient_give(b, node, node->input, dx, err));
    gradient_drop(dy[0]);
    return ok;
}

const struct layer_kind layer_gather_rows = {.forward = forward, .backward = backward};
