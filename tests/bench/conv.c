/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/device/cpu/autotune/measure.h"
#include "engine/device/cpu/backend.h"

/*
 * Speed of convolutions, one by one, in every way there is:
 *   conv ROWS THREADS [RUNS [f32|bf16 [SHAPE]]]
 * prints the quickest of RUNS runs for the shapes of ResNet-18 at 28x28, or for one of them, by
 * number. GFLOP/s count the multiplications and additions of the direct
 * algorithm.
 */

#define SHAPES 11

/* channels, side; kernel and stride */
static const int shapes[SHAPES][5] = {
    {64, 64, 28, 3, 1},   {64, 128, 28, 3, 2},  {64, 128, 28, 1, 2}, {128, 128, 14, 3, 1},
    {128, 256, 14, 3, 2}, {128, 256, 14, 1, 2}, {256, 256, 7, 3, 1}, {256, 512, 7, 3, 2},
    {256, 512, 7, 1, 2},  {512, 512, 4, 3, 1},  {32, 32, 32, 3, 1},
};

static struct conv_shape shape_of(const int numbers[5], int rows, int block)
{
    struct conv_shape s;
    const int side = numbers[2], kernel = numbers[3], stride = numbers[4], pad = kernel / 2;
    const int out = (side + 2 * pad - kernel) / stride + 1;
    memset(&s, 0, sizeof s);
    s.rows = rows;
    s.in = numbers[0];
    s.out = numbers[1];
    s.in_block = s.out_block = block;
    s.in_h = s.in_w = side;
    s.out_h = s.out_w = out;
    s.kernel_h = s.kernel_w = kernel;
    s.stride_h = s.stride_w = stride;
    s.pad_h = s.pad_w = pad;
    s.dilation_h = s.dilation_w = s.groups = 1;
    return s;
}

static bool measure(struct device *device, const struct conv_shape *s,
                    enum conv_direction direction, int runs, struct error *err)
{
    static const char *const names[] = {"forward", "data", "weights"};
    const double flops =
        2.0 * s->rows * s->out * s->out_h * s->out_w * s->in * s->kernel_h * s->kernel_w;
    struct conv_algorithm list[CONV_MOST_ALGORITHMS];
    struct conv_timing timings[CONV_MOST_ALGORITHMS];
    int count = conv_algorithms(s, direction, list);
    if (!conv_measure(device, s, direction, list, count, runs, timings, err))
        return false;
    printf("%3d->%3d @%2d %dx%d/%d %-8s", s->in, s->out, s->in_h, s->kernel_h, s->kernel_w,
           s->stride_h, names[direction]);
    for (int i = 0; i < count; i++)
        if (timings[i].seconds > 0)
            printf("  %s %.2f ms %.0f", conv_algorithm_name(list[i]), timings[i].seconds * 1e3,
                   flops / timings[i].seconds * 1e-9);
    printf("\n");
    return true;
}

int main(int argc, char **argv)
{
    long rows, threads, runs = 10, only = -1;
    struct device *device = NULL;
    struct error err = ERROR_INIT;
    const char *type = argc > 4 ? argv[4] : "f32", *why;
    const bool bf16 = strcmp(type, "bf16") == 0;
    if (argc < 3 || argc > 6 || !parse_long(argv[1], 1, 100000, &rows) ||
        !parse_long(argv[2], 1, 1024, &threads) ||
        (argc > 3 && !parse_long(argv[3], 1, 100000, &runs)) ||
        (!bf16 && strcmp(type, "f32") != 0) ||
        (argc > 5 && !parse_long(argv[5], 0, SHAPES - 1, &only))) {
        fprintf(stderr, "usage: %s ROWS THREADS [RUNS [f32|bf16 [SHAPE]]]\n", argv[0]);
        return 2;
    }
    if (!cpu_backend.computes_in(bf16 ? TYPE_BF16 : TYPE_F32, &why)) {
        fprintf(stderr, "%s: %s\n", argv[0], why);
        return 77;
    }
    const struct device_options options = {.id = {DEVICE_CPU, 0}, .threads = (int)threads};
    bool ok = cpu_backend.open(&options, &device, &err);
    for (int i = 0; ok && i < SHAPES; i++) {
        struct conv_shape shape = shape_of(shapes[i], (int)rows, device->block);
        shape.bf16 = bf16;
        for (int d = CONV_FORWARD; ok && d <= CONV_BACKWARD_WEIGHTS; d++)
            if (only < 0 || only == i)
                ok = measure(device, &shape, (enum conv_direction)d, (int)runs, &err);
    }
    cpu_backend.close(device);
    if (!ok)
        fprintf(stderr, "%s: %s\n", argv[0], err.text);
    return ok ? 0 : 1;
}
