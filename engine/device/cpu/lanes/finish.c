/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/lanes/finish.h"

#include "engine/device/cpu/lanes/tiling.h"

static void finish_linear(const struct lanes_net *net, const struct lanes_op *op, int part,
                          int parts)
{
    const int begin = lanes_share(op->out, part, parts),
              end = lanes_share(op->out, part + 1, parts);
    const float *dy = op->dy_rows->data;
    net->kernels->linear_weights(net->rows, op->in, end - begin, op->x_rows->data,
                                 (ptrdiff_t)op->x_stride, dy + begin, (ptrdiff_t)op->y_stride,
                                 op->weight_gradient + (size_t)begin * (size_t)op->in);
    for (int o = begin; op->bias && o < end; o++) {
        double sum = 0;
        for (int n = 0; n < net->rows; n++)
            sum += (double)dy[(size_t)n * op->y_stride + (size_t)o];
        op->bias_gradient[o] = (float)sum;
    }
}

/* What the threads have at a place of their sums, added up in their order. */
static float add_threads(const struct lanes_net *net, size_t at, int parts)
{
    const float *partial = (const float *)net->partial->data + at;
    const int took_part = parts < net->groups ? parts : net->groups;
    float sum = partial[0];
    for (int t = 1; t < took_part; t++)
        sum += partial[(size_t)t * net->sums];
    return sum;
}

/* Sums of all threads, shared by them. */
static void add_partial(const struct lanes_net *net, size_t at, float *to, size_t count, int part,
                        int parts)
{
    const int begin = lanes_share((int)count, part, parts),
              end = lanes_share((int)count, part + 1, parts);
    for (int i = begin; i < end; i++)
        to[i] = add_threads(net, at + (size_t)i, parts);
}

/* The same for a tiled convolution, whose sums are those of points. */
static void add_tiled(const struct lanes_net *net, const struct lanes_op *op, int part, int parts)
{
    const int width = op->conv.kernel_w;
    const size_t rows = (op->bias_sums - op->sums) / LANES_POINTS;
    const int begin = lanes_share((int)rows, part, parts),
              end = lanes_share((int)rows, part + 1, parts);
    for (int i = begin; i < end; i++) {
        float v[LANES_POINTS];
        for (size_t k = 0; k < LANES_POINTS; k++)
            v[k] = add_threads(net, op->sums + k * rows + (size_t)i, parts);
        lanes_weights_from_points(width, v, op->weight_gradient + (size_t)i * (size_t)width);
    }
}

static void finish_conv(const struct lanes_net *net, const struct lanes_op *op, int part, int parts)
{
    if (op->conv.tile > 0)
        add_tiled(net, op, part, parts);
    else
        add_partial(net, op->sums, op->weight_gradient, op->bias_sums - op->sums, part, parts);
    if (op->bias)
        add_partial(net, op->bias_sums, op->bias_gradient, (size_t)op->conv.y.c, part, parts);
}

void lanes_finish(const struct lanes_net *net, const struct lanes_op *op, int part, int parts)
{
    if (op->kind == LANES_LINEAR)
        finish_linear(net, op, part, parts);
    else
        finish_conv(net, op, part, parts);
}
