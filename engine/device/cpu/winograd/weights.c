/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/weights.h"

#include <omp.h>

#include "engine/device/cpu/core/team.h"

#define POINT_ONE                                                                                  \
    (WINOGRAD_TILE + 1) /* whose D is the sum of a tile's pixels: 1, along both sides */
#define MAX_WIDTH 32    /* V and D of a run, and the sums, are 20 KB for each point */
#define OWN_BYTES ((size_t)64 << 20) /* of sums */
#define PADDING   16                 /* floats: a cache line */
#define PIECE     32                 /* tiles, about */
#define CHUNK     128                /* tiles, about */
#define FIELD     256                /* channels */

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
    return WINOGRAD_POINTS * squares(w) * (size_t)w->width * (size_t)w->width * sizeof(float);
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
        w->parts = shorter(shorter(count, runs), w->bands);
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
    const size_t most = ceil_div(w->bands, w->parts), across = (size_t)w->wide.count;
    const size_t chunks = ceil_div(most * across, CHUNK);
    w->single = w->parts == 1 && few_tiles(w);
    w->chunk = w->single ? most : ceil_div(most, chunks);
}

/* Fields along a side of `groups`. */
static size_t side_fields(const struct winograd_weights *w, int groups)
{
    return ceil_div((size_t)groups, (size_t)w->field);
}

static size_t fields(const struct winograd_weights *w)
{
    return side_fields(w, w->in_groups) * side_fields(w, w->out_groups);
}

/*
 * Large fields, but enough of them that threads that share the work all have some. A square that is
 * finished at once is a field of its own: the sums of its points are to stay in the caches.
 */
static void set_fields(struct winograd_weights *w, int threads)
{
    const size_t workers = w->parts == 1 ? (size_t)threads : 1;
    w->field = w->single || w->width > FIELD ? 1 : FIELD / w->width;
    while (!w->single && fields(w) * WINOGRAD_POINTS < 4 * workers && w->field > 1)
        w->field /= 2;
}

static struct winograd_side cut_side(int outputs)
{
    const struct winograd_cut cut = winograd_cut(outputs);
    return (struct winograd_side){cut.fours, cut.fours + cut.threes};
}

static void plan(struct winograd_weights *w, const struct conv_shape *s, int block, int threads)
{
    *w = (struct winograd_weights){.shape = s, .block = block};
    w->high = cut_side(s->out_h);
    w->wide = cut_side(s->out_w);
    w->bands = (size_t)s->rows * (size_t)w->high.count;
    w->tiles = w->bands * (size_t)w->wide.count;
    set_parts(w, threads);
    set_chunk(w);
    set_fields(w, threads);
    w->panel = w->chunk * (size_t)w->wide.count * (size_t)w->width + PADDING;
    w->sums = (size_t)w->width * (size_t)w->width + PADDING;
}

/* The bands of a part. */
static size_t part_start(const struct winograd_weights *w, size_t part)
{
    return w->bands * part / w->parts;
}

/* Where a part has its V, D and sums; floats. */
struct layout {
    size_t d, sums, bias, end;
};

static struct layout layout_of(const struct winograd_weights *w, int threads)
{
    struct layout l;
    l.d = (size_t)w->in_groups * WINOGRAD_POINTS * w->panel;
    l.sums = l.d + (size_t)w->out_groups * WINOGRAD_POINTS * w->panel;
    const size_t kept = w->single ? (size_t)threads : squares(w);
    l.bias = l.sums + kept * WINOGRAD_POINTS * w->sums;
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
    const struct winograd_weights_transforms *transforms;
};

static int group_channels(const struct winograd_weights *w, int channels, int group)
{
    const int rest = channels - group * w->width;
    return rest < w->width ? rest : w->width;
}

static struct winograd_square square_of(const struct winograd_weights *w, int in_group,
                                        int out_group)
{
    return (struct winograd_square){.in_group = in_group,
                                    .out_group = out_group,
                                    .ins = group_channels(w, w->shape->in, in_group),
                                    .outs = group_channels(w, w->shape->out, out_group)};
}

static struct winograd_chunk chunk_of(const struct winograd_weights *w, size_t from, size_t count)
{
    struct winograd_chunk chunk = {.from = from, .count = count};
    const size_t fours = winograd_fours(w, from + count) - winograd_fours(w, from);
    for (int kind = 0; kind < WINOGRAD_KINDS; kind++) {
        const int wide = kind % 2 ? w->wide.count - w->wide.fours : w->wide.fours;
        const size_t bands = kind < 2 ? fours : count - fours;
        chunk.first[kind + 1] = chunk.first[kind] + bands * (size_t)wide;
    }
    return chunk;
}

/* V and D of a chunk, in pieces: some bands of a group. */
static void transform(const struct work *work, const struct team *team,
                      const struct winograd_chunk *chunk, float *base)
{
    const struct winograd_weights *w = &work->w;
    const size_t piece = ceil_div(PIECE, (size_t)w->wide.count);
    const size_t pieces = ceil_div(chunk->count, piece);
    const size_t groups = (size_t)w->in_groups + (size_t)w->out_groups;
    for (size_t i = team->self; i < groups * pieces; i += team->size) {
        const size_t at = i % pieces * piece, from = chunk->from + at;
        const size_t count = shorter(piece, chunk->count - at);
        const int group = (int)(i / pieces), out_group = group - w->in_groups;
        float *panels = base + (size_t)group * WINOGRAD_POINTS * w->panel;
        if (out_group < 0)
            work->transforms->input(w, chunk, work->pass->x, group, from, count, panels);
        else
            work->transforms->gradient(w, chunk, work->pass->dy, out_group, from, count, panels);
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

/*
 * A point of a square, over the tiles that have it: those of 3 lack -2, on either side, which the
 * order of the kinds leaves in no more than two ranges.
 */
static void multiply_point(const struct work *work, const struct winograd_chunk *chunk,
                           const struct winograd_square *square, size_t point, bool first,
                           float *base, float *sums)
{
    const struct winograd_weights *w = &work->w;
    const size_t *at = chunk->first, width = (size_t)w->width;
    const bool high = point / WINOGRAD_TILE == WINOGRAD_SKIPPED,
               wide = point % WINOGRAD_TILE == WINOGRAD_SKIPPED;
    const float *v = base + ((size_t)square->in_group * WINOGRAD_POINTS + point) * w->panel;
    const float *d =
        base + work->layout.d + ((size_t)square->out_group * WINOGRAD_POINTS + point) * w->panel;
    work->kernels->multiply(w, square, v, d, wide ? at[1] : high ? at[2] : at[4], first, sums);
    if (wide && !high && at[3] > at[2])
        work->kernels->multiply(w, square, v + at[2] * width, d + at[2] * width, at[3] - at[2],
                                false, sums);
    if (work->pass->dbias && point == POINT_ONE && square->in_group == 0)
        work->kernels->bias(w, d, square->outs, at[4], first,
                            base + work->layout.bias + (size_t)square->out_group * width);
}

/* The groups of a field. */
struct field {
    int in, in_end, out, out_end;
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static struct field field_of(const struct winograd_weights *w, size_t index)
{
    const size_t across = side_fields(w, w->in_groups);
    const int in = (int)(index % across) * w->field, out = (int)(index / across) * w->field;
    return (struct field){in, smaller(in + w->field, w->in_groups), out,
                          smaller(out + w->field, w->out_groups)};
}

/* One point of a field. */
static void multiply_field(const struct work *work, const struct winograd_chunk *chunk,
                           const struct field *f, size_t point, bool first, float *base)
{
    const struct winograd_weights *w = &work->w;
    for (int out = f->out; out < f->out_end; out++)
        for (int in = f->in; in < f->in_end; in++) {
            const struct winograd_square square = square_of(w, in, out);
            const size_t index = (size_t)out * (size_t)w->in_groups + (size_t)in;
            float *sums = base + work->layout.sums + (index * WINOGRAD_POINTS + point) * w->sums;
            multiply_point(work, chunk, &square, point, first, base, sums);
        }
}

/* A square from all tiles to its weights. */
static void multiply_single(const struct work *work, const struct winograd_chunk *chunk,
                            const struct field *f, float *base, float *sums)
{
    const struct winograd_weights *w = &work->w;
    const struct winograd_square square = square_of(w, f->in, f->out);
    for (size_t p = 0; p < WINOGRAD_POINTS; p++)
        multiply_point(work, chunk, &square, p, true, base, sums + p * w->sums);
    for (int in = 0; in < square.ins; in++)
        work->kernels->finish(w, &square, in, sums, 0, work->pass->dw);
    finish_bias(work, &square, base);
}

static void multiply(const struct work *work, const struct team *team,
                     const struct winograd_chunk *chunk, bool first, float *base)
{
    const struct winograd_weights *w = &work->w;
    float *own = base + work->layout.sums + team->self * WINOGRAD_POINTS * w->sums;
    for (size_t i = team->self; i < fields(w) * (w->single ? 1 : WINOGRAD_POINTS);
         i += team->size) {
        const struct field field = field_of(w, i % fields(w));
        if (w->single)
            multiply_single(work, chunk, &field, base, own);
        else
            multiply_field(work, chunk, &field, i / fields(w), first, base);
    }
}

static void run_part(const struct work *work, const struct team *team, size_t part)
{
    const struct winograd_weights *w = &work->w;
    const size_t start = part_start(w, part), end = part_start(w, part + 1);
    float *base = (float *)work->pass->scratch + part * work->layout.end;
    for (size_t from = start; from < end; from += w->chunk) {
        const struct winograd_chunk chunk = chunk_of(w, from, shorter(w->chunk, end - from));
        transform(work, team, &chunk, base);
        team_wait(team);
        multiply(work, team, &chunk, from == start, base);
        team_wait(team);
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
        const struct winograd_square square =
            square_of(w, (int)(index % (size_t)w->in_groups), (int)(index / (size_t)w->in_groups));
        const int in = (int)(i % (size_t)w->width);
        const float *sums = base + l->sums + index * WINOGRAD_POINTS * w->sums;
        if (in < square.ins)
            work->kernels->finish(w, &square, in, sums, l->end, work->pass->dw);
        if (in == 0)
            finish_bias(work, &square, base);
    }
}

void winograd_weights_run(const struct conv_pass *pass,
                          const struct winograd_weights_kernels *kernels)
{
    struct work work = {
        .pass = pass, .kernels = kernels, .transforms = kernels->transforms[pass->shape->bf16]};
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
        team_wait(&all);
        if (!work.w.single)
            finish(&work, &all);
    }
}
