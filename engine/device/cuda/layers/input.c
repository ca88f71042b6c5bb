/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/input.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/cuda/pass/rows.h"
#include "engine/device/plan/stage_end.h"

/*
 * The rows of a shard, scaled and laid out for the first operation. Queued by the host in every
 * pass, never captured: where the rows lie and how they are changed differs.
 */
struct input {
    struct buffer *x;
    struct input_args args;
};

static bool run_input(struct plan *plan, void *layer, struct error *err)
{
    const struct input *in = layer;
    const struct batch *batch = plan->core.batch;
    cudaStream_t stream = plan->device->stream;
    struct rows rows;
    if (!rows_find(plan->device, batch, &rows, err))
        return false;
    struct input_args args = in->args;
    args.pixels = rows.pixels;
    args.numbers = rows.numbers;
    args.ids = pass_index(&plan->pass, false);
    args.index = rows.gathered ? NULL : args.ids;
    args.scale = pass_scale(&plan->pass);
    args.shift = pass_shift(&plan->pass);
    args.y = in->x->data;
    if (plan->core.request.mode == PLAN_TRAIN && rows.pixels)
        args.augment =
            (struct augmentation){.flags = batch->augment,
                                  .key = {(uint32_t)batch->seed, (uint32_t)(batch->seed >> 32)},
                                  .epoch = batch->epoch};
    return cuda_kernel(kernel_input(stream, &args), err) &&
           (!rows.gathered || rows_mark_read(plan->device, err));
}

/* The convolution that reads columns; NULL: none does. */
static const struct net_op *columns_reader(const struct graph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].columns)
            return &graph->net->ops[graph->nodes[i].op];
    return NULL;
}

static void describe(struct input *in, const struct builder *b)
{
    const struct net_op *op = columns_reader(b->graph);
    const struct net_shape shape = b->graph->net->input;
    in->args = (struct input_args){.channels = shape.c,
                                   .h = shape.h,
                                   .w = shape.w,
                                   .y_shape = cuda_shape(b, 0),
                                   .type = b->device->storage};
    if (!op)
        return;
    in->args.kernel_h = op->kernel_h;
    in->args.kernel_w = op->kernel_w;
    in->args.stride_h = op->stride_h;
    in->args.stride_w = op->stride_w;
    in->args.pad_h = op->pad_h;
    in->args.pad_w = op->pad_w;
}

bool cuda_build_input(struct builder *b, struct error *err)
{
    struct input *in = build_object(b, sizeof *in, NULL, err);
    if (!in)
        return false;
    describe(in, b);
    const size_t bytes = cuda_count(b, 0) * cuda_type_size(b->device->storage);
    /* Several micro-batches of a stage are staged at once. */
    in->x = b->values[0] =
        stage_is_planned(b) ? build_value(b, 0, err) : build_input_buffer(b, bytes, err);
    return in->x && build_step(b, NULL, run_input, in, err);
}
