/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/cuda/pass/segments.h"
#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/turn.h"
#include "engine/device/cuda/runtime/wait.h"
#include "engine/net/slice.h"

/*
 * All-gather: all channels of a value, or all its rows, of which each GPU has made some. In the
 * backward pass each has a gradient of all, by what it computes from them, and needs the sum of
 * those of its own (reduce-scatter), unless it has the whole gradient, as of the logits.
 *
 * Channels go by the run's collective where there is one, in parts of one size; no host waits for
 * another, except in first passes. Else, and for rows, of which devices may have any number, each
 * copies what the others have, and adds gradients up in the order of the devices: between GPUs
 * there are events, which streams wait for; the barriers on the host only make sure that they are
 * recorded before others wait for them.
 */

/* What a device offers the others in a direction. */
struct offer {
    const char *name; /* the device's */
    const void *data;
    int first, count;        /* its rows among all */
    cudaEvent_t ready, read; /* it has made the data; has read what the others offer */
};

struct gather {
    bool by_rows;
    struct value own, whole;
    size_t number;                  /* bytes of one */
    int rows;                       /* its own */
    int most;                       /* channels of a device */
    struct buffer *x, *y, *dy, *dx; /* x, dx: NULL without rows */
    /* Scratch. */
    struct buffer *parts, *backward_parts; /* part_bytes() for each device */
    struct buffer *other;                  /* in the backward pass: what another device has */
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

/* The channels of a device among all. */
static int first_of(const struct plan *plan, const struct gather *g, int device)
{
    return net_slice_first(g->whole.shape.c, device, plan->core.request.exchange.count);
}

static int count_of(const struct plan *plan, const struct gather *g, int device)
{
    return first_of(plan, g, device + 1) - first_of(plan, g, device);
}

/* Room for those of any device. */
static size_t part_bytes(const struct gather *g)
{
    return pixels(g) * pitch(g, g->most);
}

static void *part_of(const struct gather *g, const struct buffer *parts, int device)
{
    return (char *)parts->data + (size_t)device * part_bytes(g);
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

/* In a first pass nothing may be waiting for another GPU when code is loaded. */
static bool settle(struct plan *plan, struct error *err)
{
    return plan->warm || cuda_wait_without_turn(plan->device, "other GPUs", err);
}

/* What others still read may not be written over. */
static bool end_reading(struct plan *plan, const struct gather *g, const struct offer *own,
                        struct error *err)
{
    return cuda_check(cudaEventRecord(own->read, plan->device->stream), "event", err) &&
           cuda_exchange_wait(plan->device, &plan->core.request.exchange, NULL, NULL, err) &&
           follow(plan, g, own, true, err) && settle(plan, err);
}

/* Its channels of each pixel, from where they lie close together. */
static bool place_channels(const struct plan *plan, const struct gather *g, int device,
                           const void *from, struct error *err)
{
    const int count = count_of(plan, g, device);
    return copy_channels(plan, g,
                         (char *)g->y->data + (size_t)first_of(plan, g, device) * g->number,
                         pitch(g, g->whole.shape.c), from, pitch(g, count), count, err);
}

/* Of another device, by way of this one's memory. */
static bool take_channels(struct plan *plan, const struct gather *g, int device, struct error *err)
{
    const struct offer *offer = g->all[device];
    const size_t bytes = pixels(g) * pitch(g, count_of(plan, g, device));
    const bool own = offer == &g->forward;
    return (own || cuda_copy(plan->device, g->parts->data, offer->data, bytes, err)) &&
           place_channels(plan, g, device, own ? offer->data : g->parts->data, err);
}

static bool take_rows(struct plan *plan, const struct gather *g, int device, struct error *err)
{
    const struct offer *offer = g->all[device];
    const size_t row = value_row(&g->whole) * g->number;
    return cuda_copy(plan->device, (char *)g->y->data + (size_t)offer->first * row, offer->data,
                     (size_t)offer->count * row, err);
}

static bool read_others(struct plan *plan, struct gather *g, struct error *err)
{
    if (!begin_reading(plan, g, &g->forward, g->x ? g->x->data : NULL, err))
        return false;
    for (int i = 0; i < plan->core.request.exchange.count; i++)
        if (!(g->by_rows ? take_rows : take_channels)(plan, g, i, err))
            return false;
    return end_reading(plan, g, &g->forward, err);
}

static bool by_collective(const struct plan *plan, const struct gather *g)
{
    const struct device_exchange *exchange = &plan->core.request.exchange;
    return !g->by_rows && exchange->collective && exchange->collective(exchange->context);
}

static bool gather_parts(struct plan *plan, struct gather *g, struct error *err)
{
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const int own = exchange->index;
    if (!cuda_copy(plan->device, part_of(g, g->parts, own), g->x->data,
                   pixels(g) * pitch(g, count_of(plan, g, own)), err) ||
        !exchange->gather(exchange->context, g->parts->data, part_bytes(g), err) ||
        !settle(plan, err))
        return false;
    for (int i = 0; i < exchange->count; i++)
        if (!place_channels(plan, g, i, part_of(g, g->parts, i), err))
            return false;
    return true;
}

static bool gather_now(struct plan *plan, const void *layer, const void *what, struct error *err)
{
    struct gather *g = (struct gather *)(uintptr_t)layer;
    const bool fills = !g->by_rows && value_channels(&g->whole) != g->whole.shape.c;
    (void)what;
    if (fills && !clear(plan, g->y->data, pixels(g) * pitch(g, g->whole.shape.c), err))
        return false;
    return (by_collective(plan, g) ? gather_parts : read_others)(plan, g, err);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    return cuda_segments_cut(plan, gather_now, layer, NULL, err);
}

/* Of the gradient of all channels those of each device. */
static bool pack(struct plan *plan, const struct gather *g, struct error *err)
{
    for (int i = 0; i < plan->core.request.exchange.count; i++) {
        const int count = count_of(plan, g, i);
        if ((cuda_padded(count) != count &&
             !clear(plan, part_of(g, g->backward_parts, i), pixels(g) * pitch(g, count), err)) ||
            !copy_channels(plan, g, part_of(g, g->backward_parts, i), pitch(g, count),
                           (const char *)g->dy->data + (size_t)first_of(plan, g, i) * g->number,
                           pitch(g, g->whole.shape.c), count, err))
            return false;
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
        void *to = i == 0 ? g->dx->data : g->other->data;
        if (copies && !cuda_copy(plan->device, to, from, bytes, err))
            return false;
        if (i > 0 && !cuda_kernel(kernel_add(plan->device->stream, plan->device->storage, count,
                                             g->dx->data, copies ? to : from, false, g->dx->data),
                                  err))
            return false;
    }
    return true;
}

static bool sum_parts(struct plan *plan, const struct gather *g, struct error *err)
{
    const struct device_exchange *exchange = &plan->core.request.exchange;
    const enum number_type type = plan->device->storage == CUDA_BF16 ? TYPE_BF16 : TYPE_F32;
    return exchange->scatter(exchange->context, g->backward_parts->data, part_bytes(g) / g->number,
                             type, err) &&
           settle(plan, err) &&
           cuda_copy(plan->device, g->dx->data, part_of(g, g->backward_parts, exchange->index),
                     (size_t)g->rows * value_row(&g->own) * g->number, err);
}

static bool scatter_now(struct plan *plan, const void *layer, const void *what, struct error *err)
{
    struct gather *g = (struct gather *)(uintptr_t)layer;
    const size_t at = g->by_rows ? (size_t)g->backward.first * value_row(&g->whole) * g->number
                                 : (size_t)plan->core.request.exchange.index * part_bytes(g);
    (void)what;
    if (!g->by_rows && !pack(plan, g, err))
        return false;
    if (by_collective(plan, g))
        return sum_parts(plan, g, err);
    return begin_reading(plan, g, &g->backward, g->by_rows ? g->dy->data : g->backward_parts->data,
                         err) &&
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
    const int channels = g->own.shape.c;
    const int first =
        g->by_rows ? g->backward.first : first_of(plan, g, plan->core.request.exchange.index);
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

static bool make_offer(const struct builder *b, struct offer *offer, struct error *err)
{
    offer->name = b->device->name;
    offer->first = b->core->request.rows_before;
    offer->count = b->rows;
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

static bool build_parts(struct builder *b, const struct gather *g, struct buffer **parts,
                        struct error *err)
{
    const size_t count = (size_t)b->core->request.exchange.count;
    return g->by_rows || (*parts = build_scratch(b, count * part_bytes(g), err));
}

static bool build_gather(struct builder *b, const struct node *node, bool by_rows, void **layer,
                         struct error *err)
{
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
    for (int i = 0; !by_rows && i < b->core->request.exchange.count; i++)
        g->most = count_of(b->plan, g, i) > g->most ? count_of(b->plan, g, i) : g->most;
    if (!make_offer(b, &g->forward, err) || (b->training && !make_offer(b, &g->backward, err)) ||
        (g->rows > 0 && !(g->x = build_value(b, node->input, err))))
        return false;
    g->y = build_whole(b, node, by_rows, err);
    return g->y && build_parts(b, g, &g->parts, err) && build_step(b, node, run_forward, g, err);
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
        (parts && (!build_parts(b, g, &g->backward_parts, err) ||
                   (g->dx && !(g->other = build_scratch(b, g->dx->size, err))))))
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
