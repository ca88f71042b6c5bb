/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/loss.h"
#include "engine/device/cuda/layers/operands.h"

/* Softmax and cross-entropy over the logits, in f32, and their gradient. */
struct loss {
    const struct buffer *raw; /* as the network made them, of the storage type; NULL: `logits` */
    const struct buffer *logits, *gradient;
    struct buffer *scratch;
    int rows, classes, row; /* row: numbers from row to row */
    double smoothing;
};

static bool run_loss(struct plan *plan, void *layer, struct error *err)
{
    const struct loss *l = layer;
    cudaStream_t stream = plan->device->stream;
    enum cuda_type type = plan->device->storage;
    const size_t count = (size_t)l->rows * (size_t)l->row;
    if (l->raw &&
        !cuda_kernel(kernel_convert(stream, type, l->raw->data, CUDA_F32, l->logits->data, count),
                     err))
        return false;
    return cuda_kernel(kernel_loss(stream, l->logits->data, l->rows, l->classes, l->row,
                                   pass_labels(&plan->pass), l->smoothing,
                                   pass_global_rows(&plan->pass), type,
                                   l->gradient ? l->gradient->data : NULL, l->scratch->data,
                                   pass_result(&plan->pass), pass_predicted(&plan->pass)),
                       err);
}

/* The network's last value, in f32. */
static bool take_logits(struct builder *b, struct loss *l, struct error *err)
{
    struct buffer *last = build_value(b, b->graph->logits, err);
    if (!last)
        return false;
    b->core->logits = last;
    if (b->plan->device->storage != CUDA_F32 && !b->plan->wide_logits) {
        l->raw = last;
        b->core->logits = build_buffer(b, cuda_count(b, b->graph->logits) * sizeof(float), err);
        if (!b->core->logits)
            return false;
        build_use(b, b->core->logits);
    }
    l->logits = b->core->logits;
    b->core->logits_row = (size_t)l->row;
    return true;
}

bool cuda_build_loss(struct builder *b, struct error *err)
{
    const struct value *logits = &b->graph->values[b->graph->logits];
    struct loss *l = build_object(b, sizeof *l, NULL, err);
    if (!l)
        return false;
    l->rows = b->rows;
    l->classes = b->graph->net->classes;
    l->row = (int)value_row(logits);
    l->smoothing = b->training ? b->core->request.label_smoothing : 0;
    if (!take_logits(b, l, err))
        return false;
    l->scratch = build_scratch(b, kernel_loss_scratch(b->rows), err);
    return l->scratch && build_loss_step(b, run_loss, l, &l->gradient, err);
}
