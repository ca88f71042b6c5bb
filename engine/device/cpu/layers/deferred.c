/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/deferred.h"

#include <string.h>

#include "engine/device/cpu/conv/fusion.h"
#include "engine/device/cpu/core/number.h"

/* What is kept for one plan_finish may be so many times as large as the weights. */
#define MOST_VALUES 8

bool deferred_pays(const struct builder *b, size_t weights, size_t row)
{
    const struct plan_request *request = &b->core->request;
    return request->finish_rows > request->rows &&
           (size_t)request->finish_rows * row <= MOST_VALUES * weights;
}

static bool make(struct builder *b, int value, struct buffer *from, const struct fused_norm *norm,
                 struct deferred_value *out, struct error *err)
{
    const struct value *v = &b->graph->values[value];
    const size_t rows = (size_t)b->core->request.finish_rows;
    *out = (struct deferred_value){.value = v, .from = from, .norm = norm};
    build_use(b, from);
    out->to = build_deferred_buffer(b, rows * value_row(v) * number_size(b->plan->bf16), err);
    return out->to;
}

static void keep(const struct plan *plan, const struct deferred_value *d)
{
    const size_t row = value_row(d->value), rows = (size_t)plan->core.request.rows;
    void *to = number_at(d->to->data, (size_t)plan->core.micro->deferred_before * row, plan->bf16);
    if (d->norm)
        fused_norm_apply(d->norm, d->value, rows, d->from->data, to);
    else
        memcpy(to, d->from->data, rows * row * number_size(plan->bf16));
}

static bool run(struct plan *plan, void *context, struct error *err)
{
    const struct deferred *kept = context;
    (void)err;
    keep(plan, &kept->x);
    keep(plan, &kept->dy);
    return true;
}

static void clear_rest(const struct plan *plan, const struct deferred_value *d)
{
    const size_t row = value_row(d->value), rows = (size_t)plan->core.deferred_rows;
    memset(number_at(d->to->data, rows * row, plan->bf16), 0,
           ((size_t)plan->core.request.finish_rows - rows) * row * number_size(plan->bf16));
}

void deferred_clear_rest(const struct plan *plan, const struct deferred *kept)
{
    clear_rest(plan, &kept->x);
    clear_rest(plan, &kept->dy);
}

bool deferred_build(struct builder *b, const struct node *node, struct buffer *x,
                    const struct fused_norm *norm, struct buffer *dy, struct deferred *out,
                    struct error *err)
{
    if (!make(b, node->input, x, norm, &out->x, err) ||
        !make(b, node->output, dy, NULL, &out->dy, err))
        return false;
    build_label_apart(b, PLAN_BACKWARD_WEIGHTS, "kept");
    return build_step(b, node, run, out, err);
}
