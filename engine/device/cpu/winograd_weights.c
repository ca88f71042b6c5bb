/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd_weights.h"

#include <omp.h>

#define POINTS    36                 /* of a tile */
#define TILE      4                  /* pixels of the output, each way */
#define MAX_WIDTH 32                 /* V and D of a run, and the sums, are 20 KB for each point */
#define OWN_BYTES ((size_t)64 << 20) /* of sums */
#define PADDING   16                 /* floats: a cache line */
#define PIECE     32                 /* tiles */
#define CHUNK     128                /* tiles */

static size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t shorter(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t squares(const struct winograd_weights *w)
{
    return (size_t)w->in_groups * (size_t)w->out_groups;
}

/* Groups as equal as can be, of at most `most` channels. */
static void set_width(struct winograd_weights *w, int most)
{
    const int channels = w->shape->in > w->shape->out ? w->shape->in : w->shape->out;
    const int groups = (channels + most - 1) / most, blocks = channels / w->block;
    w->width = (blocks + groups - 1) / groups * w->block;
    w->in_groups = (w->shape->in + w->width - 1) / w->width;
    w->out_groups = (w->shape->out + w->width - 1) / w->width;
}

static size_t sums_bytes(const struct winograd_weights *w)
{
    return POINTS * squares(w) * (size_t)w->width * (size_t)w->width * sizeof(float);
}

/* Whether V and D of all tiles are no larger than all sums. */
static bool few_tiles(const struct winograd_weights *w)
{
    return w->tiles * ((size_t)w->in_groups + (size_t)w->out_groups) <=
           squares(w) * (size_t)w->width;
}

/*
 * Threads with tiles and sums of their own need not wait for one another nor fetch V and D out of
 * another core's cache. It does not pay where there are few tiles, and sums must not take too much
 * memory: there threads take different squares, if need be narrow ones, so that all have some.
 */
static void set_parts(struct winograd_weights *w, int threads)
{
    const size_t count = (size_t)threads, runs = ceil_div(w->tiles, WINOGRAD_RUN);
    w->parts = 1;
    set_width(w, MAX_WIDTH);
    if (!few_tiles(w) && count * sums_bytes(w) <= OWN_BYTES)
        w->parts = shorter(count, runs);
    else
        while (squares(w) % count != 0 && squares(w) < 4 * count && w->width > w->block)
            set_width(w, w->width / 2 < w->block ? w->block : w->width / 2);
}

/*
 * In a chunk of a few MB the sums are fetched once. Where there are few tiles, one chunk for all
 * saves even that.
 */
static void set_chunk(struct winograd_weights *w)
{
    const size_t most = ceil_div(ceil_div(w->tiles, w->parts), WINOGRAD_RUN) * WINOGRAD_RUN;
    w->chunk = w->parts == 1 && few_tiles(w) ? most : shorter(CHUNK, most);
}

static void plan(struct winograd_weights *w, const struct conv_shape *s, int block, int threads)
{
    *w = (struct winograd_weights){.shape = s, .block = block};
    w->tiles_h = (s->out_h + TILE - 1) / TILE;
    w->tiles_w = (s->out_w + TILE - 1) / TILE;
    w->tiles = (size_t)s->rows * (size_t)w->tiles_h * (size_t)w->tiles_w;
    set_parts(w, threads);
    set_chunk(w);
    w->panel = w->chunk * (size_t)w->width + PADDING;
    w->sums = (size_t)w->width * (size_t)w->width + PADDING;
}

/* The tiles of a part. */
static size_t part_start(const struct winograd_weights *w, size_t part)
{
    return w->tiles * part / w->parts;
}

/* Whether all tiles of a part are transformed at once: then each square is finished at once. */
static bool single(const struct winograd_weights *w)
{
    return w->parts == 1 && w->chunk >= w->tiles;
}

/* Where a part has its V, D and sums; floats. */
struct layout {
    size_t d, sums, bias, end;
};

static struct layout layout_of(const struct winograd_weights *w, int threads)
{
    struct layout l;
    l.d = (size_t)w->in_groups * POINTS * w->panel;
    l.sums = l.d + (size_t)w->out_groups * POINTS * w->panel;
    l.bias = l.sums + (single(w) ? (size_t)threads : squares(w)) * POINTS * w->sums;
    l.end = l.bias + (size_t)w->out_groups * (size_t)w->width;
    l.end = ceil_div(l.end, 1024) * 1024;
    return l;
}

bool winograd_weights_fits(const struct conv_shape *s, int block)
{
    return s->kernel_h == 3 && s->kernel_w == 3 && s->stride_h == 1 && s->stride_w == 1 &&
           s->pad_h <= 1 && s->pad_w <= 1 && s->in_block == block && s->out_block == block &&
           s->rows > 0;
}

size_t winograd_weights_scratch(const struct conv_shape *shape, int block, int threads)
{
    struct winograd_weights w;
    plan(&w, shape, block, threads);
    return w.parts * layout_of(&w, threads).end * sizeof(float);
}

/* What all threads of a pass know. */
struct work {
    struct winograd_weights w;
    struct layout layout;
    const struct conv_pass *pass;
    const struct winograd_weights_kernels *kernels;
};

/* Who works on a part: number `self` of `size` threads. */
struct team {
    size_t self, size;
};

/* `size` is that of the whole OpenMP team, or 1. */
static void wait_for(const struct team *team)
{
    if (team->size > 1) {
#pragma omp barrier
    }
}

static int group_channels(const struct winograd_weights *w, int channels, int group)
{
    const int rest = channels - group * w->width;
    return rest < w->width ? rest : w->width;
}

static struct winograd_square square_of(const struct winograd_weights *w, size_t index)
{
    struct winograd_square s = {.in_group = (int)(index % (size_t)w->in_groups),
                                .out_group = (int)(index / (size_t)w->in_groups)};
    s.ins = group_channels(w, w->shape->in, s.in_group);
    s.outs = group_channels(w, w->shape->out, s.out_group);
    return s;
}

/* V and D of a chunk, in pieces: some tiles of a group. */
static void transform(const struct work *work, const struct team *team, size_t from, size_t count,
                      float *base)
{
    const struct winograd_weights *w = &work->w;
    const size_t pieces = ceil_div(count, PIECE);
    const size_t groups = (size_t)w->in_groups + (size_t)w->out_groups;
    for (size_t i = team->self; i < groups * pieces; i += team->size) {
        const size_t at = i % pieces * PIECE;
        const size_t length = shorter(PIECE, count - at);
        const int group = (int)(i / pieces), out_group = group - w->in_groups;
        float *panels = base + (size_t)group * POINTS * w->panel + at * (size_t)w->width;
        if (out_group < 0)
            work->kernels->input(w, work->pass->x, group, from + at, length, panels);
        else
            work->kernels->gradient(w, work->pass->dy, out_group, from + at, length, panels);
    }
}

static void finish_bias(const struct work *work, const struct winograd_square *square,
                        const float *base)
{
    const size_t first = (size_t)square->out_group * (size_t)work->w.width;
    const float *bias = base + work->layout.bias + first;
    if (!work->pass->dbias || square->in_group > 0)
        return;
    for (int c = 0; c < square->outs; c++) {
        float sum = bias[c];
        for (size_t part = 1; part < work->w.parts; part++)
            sum += bias[part * work->layout.end + (size_t)c];
        work->pass->dbias[first + (size_t)c] = sum;
    }
}

static void multiply(const struct work *work, const struct team *team, size_t count, bool first,
                     float *base)
{
    const struct winograd_weights *w = &work->w;
    const struct layout *l = &work->layout;
    for (size_t i = team->self; i < squares(w); i += team->size) {
        const struct winograd_square square = square_of(w, i);
        const float *v = base + (size_t)square.in_group * POINTS * w->panel;
        const float *d = base + l->d + (size_t)square.out_group * POINTS * w->panel;
        float *sums = base + l->sums + (single(w) ? team->self : i) * POINTS * w->sums;
        float *bias = base + l->bias + (size_t)square.out_group * (size_t)w->width;
        for (size_t p = 0; p < POINTS; p++) {
            work->kernels->multiply(w, &square, v + p * w->panel, d + p * w->panel, count, first,
                                    sums + p * w->sums);
        }
        if (work->pass->dbias && square.in_group == 0)
            work->kernels->bias(w, d, square.outs, count, first, bias);
        for (int in = 0; single(w) && in < square.ins; in++)
            work->kernels->finish(w, &square, in, sums, 0, work->pass->dw);
        if (single(w))
            finish_bias(work, &square, base);
    }
}

static void run_part(const struct work *work, const struct team *team, size_t part)
{
    const struct winograd_weights *w = &work->w;
    const size_t start = part_start(w, part), end = part_start(w, part + 1);
    float *base = (float *)work->pass->scratch + part * work->layout.end;
    for (size_t from = start; from < end; from += w->chunk) {
        const size_t count = shorter(w->chunk, end - from);
        transform(work, team, from, count, base);
        wait_for(team);
        multiply(work, team, count, from == start, base);
        wait_for(team);
    }
}

/* From the sums of all tiles to the weights, an input channel of a square at a time. */
static void finish(const struct work *work, const struct team *team)
{
    const struct winograd_weights *w = &work->w;
    const struct layout *l = &work->layout;
    const float *base = work->pass->scratch;
    for (size_t i = team->self; i < squares(w) * (size_t)w->width; i += team->size) {
        const size_t index = i / (size_t)w->width;
        const struct winograd_square square = square_of(w, index);
        const int in = (int)(i % (size_t)w->width);
        const float *sums = base + l->sums + index * POINTS * w->sums;
        if (in < square.ins)
            work->kernels->finish(w, &square, in, sums, l->end, work->pass->dw);
        if (in == 0)
            finish_bias(work, &square, base);
    }
}

void winograd_weights_run(const struct conv_pass *pass,
                          const struct winograd_weights_kernels *kernels)
{
    struct work work = {.pass = pass, .kernels = kernels};
    plan(&work.w, pass->shape, kernels->block, pass->threads);
    work.w.norm = pass->norm;
    work.layout = layout_of(&work.w, pass->threads);
#pragma omp parallel num_threads(pass->threads)
    {
        const struct team alone = {0, 1};
        const struct team all = {(size_t)omp_get_thread_num(), (size_t)omp_get_num_threads()};
        if (work.w.parts == 1)
            run_part(&work, &all, 0);
        else
            for (size_t part = all.self; part < work.w.parts; part += all.size)
                run_part(&work, &alone, part);
        wait_for(&all);
        if (!single(&work.w))
            finish(&work, &all);
    }
}
