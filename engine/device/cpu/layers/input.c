/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/input.h"

#include <string.h>

#include "base/rng.h"
#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/plan/batch_check.h"
#include "engine/device/plan/stage_end.h"

/* The rows of a shard, gathered from the data set, scaled and laid out for the first operation. */
struct input {
    struct buffer *x;
    struct value value;
    int rows;
    float *scale, *shift; /* per channel: x = pixel * scale + shift */
};

static void release(void *layer)
{
    struct input *in = layer;
    free(in->scale);
    free(in->shift);
}

static inline size_t place_of(const struct value *v, int channel)
{
    return (size_t)(channel / v->block) * value_pixels(v) * v->block + channel % v->block;
}

INLINE void gather_pixels(const struct input *in, const uint8_t *from, void *to, const bool bf16)
{
    const int pixels = value_pixels(&in->value), block = in->value.block;
    for (int c = 0; c < in->value.shape.c; c++) {
        const float scale = in->scale[c], shift = in->shift[c];
        const uint8_t *p = from + (size_t)c * pixels;
        const size_t x = place_of(&in->value, c);
        for (int i = 0; i < pixels; i++)
            number_put(to, x + (size_t)i * block, (float)p[i] * scale + shift, bf16);
    }
}

struct augment_change input_change(const struct batch *batch, uint32_t row)
{
    uint32_t words[4];
    const struct rng_stream stream = rng_stream(batch->seed, RNG_AUGMENT, 0, row, batch->epoch);
    rng_block(&stream, 0, words);
    return augment_change_of(words, batch->augment);
}

INLINE void gather_changed(const struct input *in, struct augment_change change,
                           const uint8_t *from, void *to, const bool bf16)
{
    const struct net_shape shape = in->value.shape;
    const int block = in->value.block;
    for (int c = 0; c < shape.c; c++) {
        const float scale = in->scale[c], shift = in->shift[c];
        const uint8_t *p = from + (size_t)c * value_pixels(&in->value);
        size_t x = place_of(&in->value, c);
        for (int row = 0; row < shape.h; row++)
            for (int column = 0; column < shape.w; column++, x += block) {
                const int source = augment_source(change, row, column, shape.h, shape.w);
                const float pixel = source < 0 ? 0.0f : (float)p[source];
                number_put(to, x, pixel * scale + shift, bf16);
            }
    }
}

/* Numbers come as the network wants them. */
INLINE void gather_numbers(const struct input *in, const float *from, void *to, const bool bf16)
{
    const int pixels = value_pixels(&in->value), block = in->value.block;
    for (int c = 0; c < in->value.shape.c; c++)
        for (int i = 0; i < pixels; i++)
            number_put(to, place_of(&in->value, c) + (size_t)i * block,
                       from[(size_t)c * pixels + i], bf16);
}

INLINE void gather_row(const struct input *in, const struct batch *batch, bool augment, int n,
                       const bool bf16)
{
    const struct dataset *data = batch->data;
    const uint32_t index = batch->index[n];
    const size_t row = value_row(&in->value), numbers = net_shape_size(in->value.shape);
    const size_t at = (size_t)index * numbers;
    void *to = number_at(in->x->data, (size_t)n * row, bf16);
    if (row != numbers)
        memset(to, 0, row * number_size(bf16)); /* the channels that fill the last block */
    if (data->pixels && augment)
        gather_changed(in, input_change(batch, index), data->pixels + at, to, bf16);
    else if (data->pixels)
        gather_pixels(in, data->pixels + at, to, bf16);
    else
        gather_numbers(in, data->numbers + at, to, bf16);
}

static bool run_input(struct plan *plan, void *layer, struct error *err)
{
    const struct input *in = layer;
    const struct batch *batch = plan->core.batch;
    if (!batch_check_rows(batch, plan->replica->base.net, err))
        return false;
    const bool augment = plan->core.request.mode == PLAN_TRAIN && batch->augment != AUGMENT_NONE;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < in->rows; n++)
        if (plan->bf16)
            gather_row(in, batch, augment, n, true);
        else
            gather_row(in, batch, augment, n, false);
    return true;
}

static float setting(const float *list, int count, int channel, float none)
{
    return count == 0 ? none : list[count == 1 ? 0 : channel];
}

void input_scaling(const struct net *net, float *scale, float *shift)
{
    for (int c = 0; c < net->input.c; c++) {
        double mean = (double)setting(net->mean, net->mean_count, c, 0);
        double std = (double)setting(net->std, net->std_count, c, 1);
        scale[c] = (float)(1 / (255 * std));
        shift[c] = (float)(-mean / std);
    }
}

bool build_input(struct builder *b, struct error *err)
{
    const struct net *net = b->graph->net;
    struct input *in = build_object(b, sizeof *in, release, err);
    if (!in)
        return false;
    in->value = b->graph->values[0];
    in->rows = b->rows;
    in->scale = malloc((size_t)net->input.c * sizeof *in->scale);
    in->shift = malloc((size_t)net->input.c * sizeof *in->shift);
    if (!in->scale || !in->shift)
        return error_memory(err, "input scaling");
    input_scaling(net, in->scale, in->shift);
    size_t bytes = (size_t)b->rows * value_row(&in->value) * number_size(b->plan->bf16);
    /* Several micro-batches of a stage are staged at once. */
    in->x = b->values[0] =
        stage_is_planned(b) ? build_value(b, 0, err) : build_input_buffer(b, bytes, err);
    return in->x && build_step(b, NULL, run_input, in, err);
}
