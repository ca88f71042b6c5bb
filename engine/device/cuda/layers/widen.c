/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/widen.h"

#include "engine/device/cuda/layers/operands.h"

struct part {
    struct buffer *from;
    float *to;
    size_t count;
};

struct widening {
    int count;
    struct part parts[WIDEN_SPANS];
};

/* The convolution by the library whose gradients come next; NULL: none. */
static const struct node *next_conv(const struct builder *b, const struct node *node)
{
    while (node-- > b->graph->nodes)
        if (node->kind == NET_CONV && node->backward && b->graph->net->ops[node->op].groups == 1)
            return node;
    return NULL;
}

static size_t offset_of(const struct builder *b, const struct node *node)
{
    return b->plan->replica->places.list[b->graph->net->ops[node->op].weight].offset;
}

/* Whether a bucket ends before the next such gradient begins: parameters lie in the order in which
 * their gradients are completed. */
static bool must_be_complete(const struct builder *b, const struct node *node)
{
    const struct gradient_buckets *buckets = &b->core->request.buckets;
    const struct node *next = next_conv(b, node);
    if (!next)
        return true;
    for (int i = 0; i < buckets->count; i++)
        if (buckets->ends[i] > offset_of(b, node) && buckets->ends[i] <= offset_of(b, next))
            return true;
    return false;
}

struct buffer *widening_add(struct builder *b, const struct node *node, float *to, size_t count,
                            struct widening **out, struct error *err)
{
    struct buffer *from = build_buffer(b, count * sizeof(uint16_t), err);
    struct widening *w = b->plan->widening;
    *out = NULL;
    if (!from || (!w && !(w = b->plan->widening = build_object(b, sizeof *w, NULL, err))))
        return NULL;
    build_use(b, from);
    w->parts[w->count++] = (struct part){from, to, count};
    if (w->count < WIDEN_SPANS && !must_be_complete(b, node))
        return from;
    for (int i = 0; i < w->count; i++)
        build_use(b, w->parts[i].from);
    *out = w;
    b->plan->widening = NULL;
    return from;
}

bool widening_run(struct plan *plan, const struct widening *w, struct error *err)
{
    struct widen_span spans[WIDEN_SPANS];
    for (int i = 0; i < w->count; i++)
        spans[i] = (struct widen_span){w->parts[i].from->data, w->parts[i].to, w->parts[i].count};
    return cuda_kernel(kernel_widen(plan->device->stream, spans, w->count), err);
}
