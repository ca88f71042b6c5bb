/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/cuda/pass/segments.h"
#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/turn.h"
#include "engine/device/cuda/runtime/wait.h"

/*
 * All-gather: all channels of a value, or all its rows, of which each GPU has made some, and copies
 * those of the others. In the backward pass each has a gradient of all, by what it computes from
 * them, and adds up those of its own (reduce-scatter), in the order of the devices, unless it has
 * the whole gradient, as of the logits.
 *
 * Between GPUs there are events, which streams wait for; the barriers on the host only make sure
 * that they are recorded before others wait for them.
 */

/* What a device offers the others in a direction. */
struct offer {
    const char *name; /* the device's */
    const void *data;
    int first, count;        /* its channels, or rows, among all */
    cudaEvent_t ready, read; /* it has made the data; has read what the others offer */
};

struct gather {
    bool by_rows;
    struct value own, whole;
    size_t number;                  /* bytes of one */
    int rows;                       /* its own */
    struct buffer *x, *y, *dy, *dx; /* x, dx: NULL without rows */
    struct buffer *scratch;         /* in the forward pass what another device has made */
    struct buffer *pieces, *part;   /* in the backward pass: what each is to add up; another's */
    struct offer forward, backward;
    const struct offer *all[SPEC_MAX_DEVICES]; /* of the devices, in the direction being run */
};

static void release(void *layer)
{
    struct gather *g = layer;
    const cudaEvent_t events[] = {g->forward.ready, g->forward.read, g->backward.ready,
                                  g->backward.read};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
}

/* Bytes from pixel to pixel of so many channels. */
static size_t pitch(const struct gather *g, int channels)
{
    return (size_t)cuda_padded(channels) * g->number;
}

static size_t pixels(const struct gather *g)
{
    return (size_t)g->rows * (size_t)value_pixels(&g->own);
}

/* `count` channels of each pixel. */
static bool copy_channels(const struct plan *plan, const struct gather *g, void *to,
                          size_t to_pitch, const void *from, size_t from_pitch, int count,
                          struct error *err)
{
    return cuda_check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, (size_t)count * g->number,
                                        pixels(g), cudaMemcpyDeviceToDevice, plan->device->stream),
                      "copying channels", err);
}

static bool clear(const struct plan *plan, void *to, size_t bytes, struct error *err)
{
    return cuda_check(cudaMemsetAsync(to, 0, bytes, plan->device->stream), "clearing channels",
                      err);
}

/* Have what is queued from here on come after an event of each other device. */
static bool follow(const struct plan *plan, const struct gather *g, const struct offer *own,
                   bool read, struct error *err)
{
    for (int i = 0; i < plan->core.request.exchange.count; i++) {
        const struct offer *of = g->all[i];
        if (of != own &&
            !cuda_wait_for_other(plan->device, read ? of->read : of->ready, of->name, err))
            return false;
    }
    return true;
}

/* Offer `data`, and find what the others offer. */
static bool begin_reading(struct plan *plan, struct gather *g, struct offer *own, const void *data,
                          struct error *err)
{
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const void *const *all;
    own->data = data;
    if (!cuda_check(cudaEventRecord(own->ready, plan->device->stream), "event", err) ||
        !cuda_exchange_wait(plan->device, exchange, own, &all, err))
        return false;
    for (int i = 0; i < exchange->count; i++)
        g->all[i] = all[i];
    return follow(plan, g, own, false, err);
}

/* What others still read may not be written over. In a first pass nothing may be waiting for
 * another GPU when code is loaded. */
static bool end_reading(struct plan *plan, const struct gather *g, const struct offer *own,
                        struct error *err)
{
    return cuda_check(cudaEventRecord(own->read, plan->device->stream), "event", err) &&
           cuda_exchange_wait(plan->device, &plan->core.request.exchange, NULL, NULL, err) &&
           follow(plan, g, own, true, err) &&
           (plan->warm || cuda_wait_without_turn(plan->device, "other GPUs", err));
}

/* Of another device, by way of this one's memory. */
static bool take_channels(struct plan *plan, const struct gather *g, const struct offer *offer,
                          struct error *err)
{
    const size_t bytes = pixels(g) * pitch(g, offer->count);
    const void *from = offer->data;
    if (offer != &g->forward) {
        if (!cuda_copy(plan->device, g->scratch->data, from, bytes, err))
            return false;
        from = g->scratch->data;
    }
    return copy_channels(plan, g, (char *)g->y->data + (size_t)offer->first * g->number,
                         pitch(g, g->whole.shape.c), from, pitch(g, offer->count), offer->count,
                         err);
}

static bool take_rows(struct plan *plan, const struct gather *g, const struct offer *offer,
                      struct error *err)
{
    const size_t row = value_row(&g->whole) * g->number;
    return cuda_copy(plan->device, (char *)g->y->data + (size_t)offer->first * row, offer->data,
                     (size_t)offer->count * row, err);
}

static bool gather_now(struct plan *plan, const void *layer, const void *what, struct error *err)
{
    struct gather *g = (struct gather *)(uintptr_t)layer;
    const bool fills = !g->by_rows && value_channels(&g->whole) != g->whole.shape.c;
    (void)what;
    if (!begin_reading(plan, g, &g->forward, g->x ? g->x->data : NULL, err) ||
        (fills && !clear(plan, g->y->data, pixels(g) * pitch(g, g->whole.shape.c), err)))
        return false;
    for (int i = 0; i < plan->core.request.exchange.count; i++)
        if (!(g->by_rows ? take_rows : take_channels)(plan, g, g->all[i], err))
            return false;
    return end_reading(plan, g, &g->forward, err);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    return cuda_segments_cut(plan, gather_now, layer, NULL, err);
}

/* Of the gradient of all channels those of each device; *own: where this one's begin. */
static bool pack(struct plan *plan, const struct gather *g, size_t *own, struct error *err)
{
    size_t at = 0;
    for (int i = 0; i < plan->core.request.exchange.count; i++) {
        const struct offer *of = g->all[i];
        const size_t bytes = pixels(g) * pitch(g, of->count);
        char *piece = (char *)g->pieces->data + at;
        if (of == &g->forward)
            *own = at;
        if ((cuda_padded(of->count) != of->count && !clear(plan, piece, bytes, err)) ||
            !copy_channels(plan, g, piece, pitch(g, of->count),
                           (const char *)g->dy->data + (size_t)of->first * g->number,
                           pitch(g, g->whole.shape.c), of->count, err))
            return false;
        at += bytes;
    }
    return true;
}

/* dx = the sum of what all devices have at `at` of their offers. */
static bool add_up(struct plan *plan, const struct gather *g, size_t at, struct error *err)
{
    const size_t count = (size_t)g->rows * value_row(&g->own), bytes = count * g->number;
    for (int i = 0; i < plan->core.request.exchange.count; i++) {
        const void *from = (const char *)g->all[i]->data + at;
        const bool copies = i == 0 || g->all[i] != &g->backward;
        void *to = i == 0 ? g->dx->data : g->part->data;
        if (copies && !cuda_copy(plan->device, to, from, bytes, err))
            return false;
        if (i > 0 && !cuda_kernel(kernel_add(plan->device->stream, plan->device->storage, count,
                                             g->dx->data, copies ? to : from, false, g->dx->data),
                                  err))
            return false;
    }
    return true;
}

static bool scatter_now(struct plan *plan, const void *layer, const void *what, struct error *err)
{
    struct gather *g = (struct gather *)(uintptr_t)layer;
    size_t at = (size_t)g->backward.first * value_row(&g->whole) * g->number;
    (void)what;
    return (g->by_rows || pack(plan, g, &at, err)) &&
           begin_reading(plan, g, &g->backward, g->by_rows ? g->dy->data : g->pieces->data, err) &&
           (!g->dx || add_up(plan, g, at, err)) && end_reading(plan, g, &g->backward, err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    return cuda_segments_cut(plan, scatter_now, layer, NULL, err);
}

/* Of a gradient that each device has whole. */
static bool run_whole_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct gather *g = layer;
    const int first = g->backward.first, channels = g->own.shape.c;
    const size_t row = value_row(&g->whole) * g->number;
    if (!g->dx)
        return true;
    if (g->by_rows)
        return cuda_copy(plan->device, g->dx->data, (const char *)g->dy->data + (size_t)first * row,
                         (size_t)g->rows * row, err);
    return (cuda_padded(channels) == channels ||
            clear(plan, g->dx->data, pixels(g) * pitch(g, channels), err)) &&
           copy_channels(plan, g, g->dx->data, pitch(g, channels),
                         (const char *)g->dy->data + (size_t)first * g->number,
                         pitch(g, g->whole.shape.c), channels, err);
}

static bool make_offer(const struct builder *b, struct offer *offer, int first, int count,
                       struct error *err)
{
    offer->name = b->device->name;
    offer->first = first;
    offer->count = count;
    return cuda_check(cudaEventCreateWithFlags(&offer->ready, cudaEventDisableTiming), "event",
                      err) &&
           cuda_check(cudaEventCreateWithFlags(&offer->read, cudaEventDisableTiming), "event", err);
}

/* The whole value, which of rows has those of the global batch. */
static struct buffer *build_whole(struct builder *b, const struct node *node, bool by_rows,
                                  struct error *err)
{
    if (by_rows)
        build_rows(b, true);
    struct buffer *y = build_value(b, node->output, err);
    if (by_rows)
        build_rows(b, false);
    return y;
}

static bool build_gather(struct builder *b, const struct node *node, bool by_rows, void **layer,
                         struct error *err)
{
    const int first = by_rows ? b->core->request.rows_before : b->graph->net->ops[node->op].first;
    const int count = by_rows ? b->rows : b->graph->values[node->input].shape.c;
    struct gather *g = *layer = build_object(b, sizeof *g, release, err);
    if (!g)
        return false;
    if (b->core->request.exchange.count == 0)
        return error_set(err, ERROR_FAILED, "a slice without an exchange");
    g->by_rows = by_rows;
    g->own = b->graph->values[node->input];
    g->whole = b->graph->values[node->output];
    g->number = cuda_type_size(b->device->storage);
    g->rows = b->rows;
    if (!make_offer(b, &g->forward, first, count, err) ||
        (b->training && !make_offer(b, &g->backward, first, count, err)) ||
        (g->rows > 0 && !(g->x = build_value(b, node->input, err))))
        return false;
    g->y = build_whole(b, node, by_rows, err);
    g->scratch = g->y && !by_rows ? build_scratch(b, g->y->size, err) : g->y;
    return g->scratch && build_step(b, node, run_forward, g, err);
}

/* Each device's piece is filled up on its own. */
static bool build_pieces(struct builder *b, struct gather *g, struct error *err)
{
    const int count = b->core->request.exchange.count, channels = g->whole.shape.c;
    const size_t most = pitch(g, channels) + (size_t)count * pitch(g, 1);
    if (!g->by_rows && !(g->pieces = build_scratch(b, pixels(g) * most, err)))
        return false;
    return !g->dx || (g->part = build_scratch(b, g->dx->size, err));
}

static bool build_scatter(struct builder *b, const struct node *node, struct gather *g,
                          struct error *err)
{
    const bool parts = b->graph->net->ops[node->op].parts;
    struct buffer *dy[2];
    if (g->by_rows)
        build_rows(b, true); /* the gradient that is taken is of all rows */
    bool ok = gradient_take(b, node, node->output, 1, dy, err);
    if (g->by_rows)
        build_rows(b, false);
    if (!ok || (g->rows > 0 && !(g->dx = gradient_new(b, node->input, err))) ||
        (parts && !build_pieces(b, g, err)))
        return false;
    g->dy = dy[0];
    ok = build_step(b, node, parts ? run_backward : run_whole_backward, g, err) &&
         (!g->dx || gradient_give(b, node, node->input, g->dx, err));
    gradient_drop(g->dy);
    return ok;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    return build_gather(b, node, false, layer, err);
}

static bool forward_rows(struct builder *b, const struct node *node, void **layer,
                         struct error *err)
{
    return build_gather(b, node, true, layer, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    return build_scatter(b, node, layer, err);
}

const struct layer_kind cuda_layer_gather = {.forward = forward, .backward = backward};
const struct layer_kind cuda_layer_gather_rows = {.forward = forward_rows, .backward = backward};
