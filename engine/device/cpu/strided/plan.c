/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/strided/plan.h"

const struct strided_side_kind strided_kinds[STRIDED_KINDS] = {
    [STRIDED_FOUR] = {.outputs = 4,
                      .points = 5,
                      .lines = 9,
                      .first = -1,
                      .inputs = 9,
                      .gradients = 5,
                      .data = 8,
                      .forward = {LINE_0, LINE_1, LINE_INFINITY, LINE_MINUS_1, LINE_2},
                      .backward = {LINE_0, LINE_1, LINE_MINUS_1, LINE_2, LINE_INFINITY}},
    [STRIDED_THREE] = {.outputs = 3,
                       .points = 4,
                       .lines = 7,
                       .first = -1,
                       .inputs = 7,
                       .gradients = 4,
                       .data = 6,
                       .forward = {LINE_0, LINE_1, LINE_INFINITY, LINE_MINUS_1},
                       .backward = {LINE_0, LINE_1, LINE_MINUS_1, LINE_INFINITY}},
    [STRIDED_CLOSED] = {.outputs = 4,
                        .points = 4,
                        .lines = 8,
                        .first = 0,
                        .inputs = 7,
                        .gradients = 4,
                        .data = 7,
                        .forward = {LINE_0, LINE_1, LINE_INFINITY, LINE_MINUS_1},
                        .backward = {LINE_0, LINE_1, LINE_MINUS_1, LINE_INFINITY}},
    [STRIDED_PLAIN] = {.outputs = 1,
                       .points = 1,
                       .lines = 1,
                       .first = 0,
                       .inputs = 1,
                       .gradients = 1,
                       .data = 2,
                       .forward = {LINE_0},
                       .backward = {LINE_0}},
};

/* Enough tiles that weights, read once for all of them, cost little; few enough for the caches. */
#define TILES        96
#define SHARED_TILES 384
#define PLAIN_TILES  256

/* Of the threads' own gradients of mapped weights: more, and they share one. */
#define OWN_BYTES ((size_t)32 << 20)

static bool side_fits(int in, int out, int kernel, int stride, int pad)
{
    if (stride != 2 || out != (in + 1) / 2)
        return false;
    return (kernel == 3 && pad == 1 && out >= 3) || (kernel == 1 && pad == 0);
}

#define STREAM_BYTES ((size_t)1 << 24) /* what the caches will not keep until it is read */

bool strided_streams(const struct conv_shape *s, enum conv_direction direction)
{
    const size_t y = (size_t)s->out * (size_t)(s->out_h * s->out_w);
    const size_t x = (size_t)s->in * (size_t)(s->in_h * s->in_w);
    const size_t each = direction == CONV_FORWARD ? y : x;
    return (size_t)s->rows * each * sizeof(float) >= STREAM_BYTES;
}

bool strided_fits(const struct conv_shape *s)
{
    return !s->bf16 && s->kernel_h == s->kernel_w && s->in_block == s->out_block &&
           side_fits(s->in_h, s->out_h, s->kernel_h, s->stride_h, s->pad_h) &&
           side_fits(s->in_w, s->out_w, s->kernel_w, s->stride_w, s->pad_w);
}

static void cut_side(struct strided_side *side, int in, int out, int kernel)
{
    int threes = (4 - out % 4) % 4;
    *side = (struct strided_side){.in = in, .out = out, .lines = 1};
    if (kernel == 1) {
        side->runs[side->count++] = (struct strided_run){STRIDED_PLAIN, 0, out};
        return;
    }
    side->lines = STRIDED_LINES - 1;
    if (in == 7) {
        side->runs[side->count++] = (struct strided_run){STRIDED_CLOSED, 0, 1};
        return;
    }
    if (3 * threes > out)
        threes = 2; /* 5: the sixth output is dropped */
    const int fours = (out - 3 * threes) / 4;
    if (fours > 0) {
        side->runs[side->count++] = (struct strided_run){STRIDED_FOUR, 0, fours};
        side->lines = STRIDED_LINES;
    }
    if (threes > 0)
        side->runs[side->count++] = (struct strided_run){STRIDED_THREE, 4 * fours, threes};
}

/* Room for values and products: the most over all pairs of runs. */
static void measure_runs(struct strided_plan *plan, int rows, bool data)
{
    plan->values = plan->products = 0;
    for (int i = 0; i < plan->h.count; i++) {
        for (int j = 0; j < plan->w.count; j++) {
            const struct strided_run *h = &plan->h.runs[i], *w = &plan->w.runs[j];
            const struct strided_side_kind *hk = &strided_kinds[h->kind];
            const struct strided_side_kind *wk = &strided_kinds[w->kind];
            const int tiles = rows * h->count * w->count;
            size_t in = (size_t)(hk->lines * wk->lines) * strided_panel(tiles, plan->in);
            size_t out = (size_t)(hk->points * wk->points) * strided_panel(tiles, plan->out);
            size_t values = data ? out : in, products = data ? in : out;
            if (plan->values < values)
                plan->values = values;
            if (plan->products < products)
                plan->products = products;
        }
    }
}

static int most_tiles(const struct strided_plan *plan)
{
    int h = 1, w = 1;
    for (int i = 0; i < plan->h.count; i++)
        h = plan->h.runs[i].count > h ? plan->h.runs[i].count : h;
    for (int i = 0; i < plan->w.count; i++)
        w = plan->w.runs[i].count > w ? plan->w.runs[i].count : w;
    return h * w;
}

void strided_plan_make(struct strided_plan *plan, const struct conv_shape *s,
                       enum conv_direction direction, int threads)
{
    *plan = (struct strided_plan){.in = s->in, .out = s->out};
    cut_side(&plan->h, s->in_h, s->out_h, s->kernel_h);
    cut_side(&plan->w, s->in_w, s->out_w, s->kernel_w);
    plan->weights = (size_t)(plan->h.lines * plan->w.lines) * strided_panel(s->in, s->out);
    plan->copies = threads;
    if (direction == CONV_BACKWARD_WEIGHTS) {
        const bool own = plan->weights * sizeof(float) * (size_t)threads <= OWN_BYTES;
        plan->copies = own ? least(threads, s->rows) : 1;
    }
    /* As few pieces as hold the wanted number of tiles, of equal size. */
    const int wanted = s->kernel_h == 1                   ? PLAIN_TILES
                       : plan->copies == 1 && threads > 1 ? SHARED_TILES
                                                          : TILES;
    const int most = most_tiles(plan), each = (s->rows + plan->copies - 1) / plan->copies;
    const int limit = wanted > most ? wanted / most : 1;
    const int pieces = (each + limit - 1) / limit;
    plan->rows = (each + pieces - 1) / pieces;
    measure_runs(plan, plan->rows, direction == CONV_BACKWARD_DATA);
}

size_t strided_scratch(const struct conv_shape *shape, enum conv_direction direction, int threads)
{
    struct strided_plan plan;
    strided_plan_make(&plan, shape, direction, threads);
    const size_t copies = (size_t)plan.copies;
    const size_t weights = direction == CONV_BACKWARD_WEIGHTS ? copies : 1;
    return (plan.weights * weights + (plan.values + plan.products) * copies) * sizeof(float);
}
