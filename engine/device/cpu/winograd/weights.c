/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/weights.h"

#include <omp.h>

#include "engine/device/cpu/core/team.h"

#define POINT_ONE                                                                                  \
    (WINOGRAD_TILE + 1) /* whose D is the sum of a tile's pixels: 1, along both sides */
#define PIECE 32        /* tiles, about */

/* The bands of a part. */
static size_t part_start(const struct winograd_weights *w, size_t part)
{
    return w->bands * part / w->parts;
}

static bool fits_f32(const struct conv_shape *shape)
{
    return winograd_fits(shape, false, 1);
}

static bool fits_bf16(const struct conv_shape *shape)
{
    return winograd_fits(shape, true, 1);
}

static size_t scratch(const struct conv_shape *shape, enum conv_direction direction, int threads)
{
    struct winograd_weights w;
    (void)direction;
    winograd_weights_plan(&w, shape, threads);
    return w.parts * winograd_weights_layout(&w, threads).end * sizeof(float);
}

/* What all threads of a pass know. */
struct work {
    struct winograd_weights w;
    struct winograd_weights_layout layout;
    const struct conv_pass *pass;
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

/* V or D of some bands of a group; those of V come first. */
static void transform(const struct work *work, const struct winograd_chunk *chunk, int group,
                      size_t from, size_t count, float *panels)
{
    const struct winograd_weights *w = &work->w;
    if (group < w->in_groups)
        w->kernels->input(w, chunk, work->pass->x, group, from, count, panels);
    else
        w->kernels->gradient(w, chunk, work->pass->dy, group - w->in_groups, from, count, panels);
}

/* V and D of a chunk, in pieces: some bands of a group. */
static void transform_all(const struct work *work, const struct team *team,
                          const struct winograd_chunk *chunk, float *base)
{
    const struct winograd_weights *w = &work->w;
    const size_t piece = ceil_div(PIECE, (size_t)w->wide.count);
    const size_t pieces = ceil_div(chunk->count, piece);
    for (size_t i = team->self; i < winograd_all_groups(w) * pieces; i += team->size) {
        const size_t at = i % pieces * piece, group = i / pieces;
        transform(work, chunk, (int)group, chunk->from + at, shorter(piece, chunk->count - at),
                  base + group * WINOGRAD_POINTS * w->panel);
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
 * The tiles that have a point: those of 3 lack one, on either side, which the order of the kinds
 * leaves in no more than two ranges.
 */
struct ranges {
    int pieces;
    size_t from[2], count[2]; /* the first may have none */
};

static struct ranges ranges_of(const struct winograd_chunk *chunk, size_t point)
{
    const size_t *at = chunk->first;
    const bool high = point / WINOGRAD_TILE == WINOGRAD_SKIPPED;
    if (point % WINOGRAD_TILE != WINOGRAD_SKIPPED)
        return (struct ranges){1, {0}, {high ? at[2] : at[4]}};
    return (struct ranges){!high && at[3] > at[2] ? 2 : 1, {0, at[2]}, {at[1], at[3] - at[2]}};
}

/* A panel, one of V or, after them, of D, from a tile on at which a range or a run of it begins:
 * no two of them share pairs or scales. */
static struct winograd_panel panel_at(const struct work *work, float *base, int group, size_t point,
                                      size_t from)
{
    const struct winograd_weights *w = &work->w;
    const size_t index = (size_t)group * WINOGRAD_POINTS + point, width = (size_t)w->width;
    const size_t lines = w->runs > 0 ? ceil_div(from, 2) : from;
    const size_t runs = w->runs > 0 ? ceil_div(from, WINOGRAD_SCALED_RUN) : 0;
    return (struct winograd_panel){base + index * w->panel + lines * width,
                                   base + work->layout.scales + (index * w->runs + runs) * width};
}

/* Sum up the bias of an output group from its D, which are f32. */
static void add_bias(const struct work *work, const struct winograd_chunk *chunk, int out_group,
                     const float *d, bool first, float *base)
{
    const struct winograd_weights *w = &work->w;
    if (work->pass->dbias)
        w->kernels->bias(w, d, group_channels(w, w->shape->out, out_group),
                         chunk->first[WINOGRAD_KINDS], first,
                         base + work->layout.bias + (size_t)out_group * (size_t)w->width);
}

/* V or D of a group as integers, which are made as f32 in `made`. */
static void make_integers(const struct work *work, const struct winograd_chunk *chunk, int group,
                          bool first, float *made, float *base)
{
    const struct winograd_weights *w = &work->w;
    const size_t width = (size_t)w->width;
    const int out_group = group - w->in_groups;
    const int channels = out_group < 0 ? group_channels(w, w->shape->in, group)
                                       : group_channels(w, w->shape->out, out_group);
    transform(work, chunk, group, chunk->from, chunk->count, made);
    if (out_group >= 0)
        add_bias(work, chunk, out_group, made + POINT_ONE * w->made, first, base);
    for (size_t point = 0; point < WINOGRAD_POINTS; point++) {
        const struct ranges ranges = ranges_of(chunk, point);
        for (int i = 0; i < ranges.pieces; i++)
            w->kernels->shrink(w, channels, ranges.count[i],
                               made + point * w->made + ranges.from[i] * width,
                               panel_at(work, base, group, point, ranges.from[i]));
    }
}

/* What is multiplied. Groups are made into integers one by one, as a cache holds one meanwhile. */
static void prepare(const struct work *work, const struct team *team,
                    const struct winograd_chunk *chunk, bool first, float *base)
{
    const struct winograd_weights *w = &work->w;
    if (!w->kernels->shrink)
        transform_all(work, team, chunk, base);
    else
        for (size_t i = team->self; i < winograd_all_groups(w); i += team->size)
            make_integers(work, chunk, (int)i, first,
                          base + work->layout.made + team->self * WINOGRAD_POINTS * w->made, base);
    team_wait(team);
}

/* A point of a square. */
static void multiply_point(const struct work *work, const struct winograd_chunk *chunk,
                           const struct winograd_square *square, size_t point, bool first,
                           float *base, float *sums)
{
    const struct winograd_weights *w = &work->w;
    const struct ranges ranges = ranges_of(chunk, point);
    for (int j = 0; j < ranges.pieces; j++)
        w->kernels->multiply(
            w, square, panel_at(work, base, square->in_group, point, ranges.from[j]),
            panel_at(work, base, w->in_groups + square->out_group, point, ranges.from[j]),
            ranges.count[j], first && j == 0, sums);
    if (!w->kernels->shrink && point == POINT_ONE && square->in_group == 0)
        add_bias(work, chunk, square->out_group,
                 panel_at(work, base, w->in_groups + square->out_group, point, 0).numbers, first,
                 base);
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
    const size_t across = winograd_side_fields(w, w->in_groups);
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
        work->w.kernels->finish(w, &square, in, sums, 0, work->pass->dw);
    finish_bias(work, &square, base);
}

static void multiply(const struct work *work, const struct team *team,
                     const struct winograd_chunk *chunk, bool first, float *base)
{
    const struct winograd_weights *w = &work->w;
    float *own = base + work->layout.sums + team->self * WINOGRAD_POINTS * w->sums;
    for (size_t i = team->self; i < winograd_fields(w) * (w->single ? 1 : WINOGRAD_POINTS);
         i += team->size) {
        const struct field field = field_of(w, i % winograd_fields(w));
        if (w->single)
            multiply_single(work, chunk, &field, base, own);
        else
            multiply_field(work, chunk, &field, i / winograd_fields(w), first, base);
    }
}

static void run_part(const struct work *work, const struct team *team, size_t part)
{
    const struct winograd_weights *w = &work->w;
    const size_t start = part_start(w, part), end = part_start(w, part + 1);
    float *base = (float *)work->pass->scratch + part * work->layout.end;
    for (size_t from = start; from < end; from += w->chunk) {
        const struct winograd_chunk chunk = chunk_of(w, from, shorter(w->chunk, end - from));
        prepare(work, team, &chunk, from == start, base);
        multiply(work, team, &chunk, from == start, base);
        team_wait(team);
    }
}

/* From the sums of all tiles to the weights, an input channel of a square at a time. */
static void finish(const struct work *work, const struct team *team)
{
    const struct winograd_weights *w = &work->w;
    const struct winograd_weights_layout *l = &work->layout;
    const float *base = work->pass->scratch;
    for (size_t i = team->self; i < winograd_squares(w) * (size_t)w->width; i += team->size) {
        const size_t index = i / (size_t)w->width;
        const struct winograd_square square =
            square_of(w, (int)(index % (size_t)w->in_groups), (int)(index / (size_t)w->in_groups));
        const int in = (int)(i % (size_t)w->width);
        const float *sums = base + l->sums + index * WINOGRAD_POINTS * w->sums;
        if (in < square.ins)
            work->w.kernels->finish(w, &square, in, sums, l->end, work->pass->dw);
        if (in == 0)
            finish_bias(work, &square, base);
    }
}

static void run(const struct conv_pass *pass)
{
    struct work work = {.pass = pass};
    winograd_weights_plan(&work.w, pass->shape, pass->threads);
    work.w.norm = pass->norm;
    work.layout = winograd_weights_layout(&work.w, pass->threads);
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

#define KERNELS(BLOCK)                                                                             \
    {                                                                                              \
        {"winograd 4x4", BLOCK, CONV_BACKWARD_WEIGHTS, fits_f32, scratch, run, true},              \
        {                                                                                          \
            "winograd 4x4, 16 bits", BLOCK, CONV_BACKWARD_WEIGHTS, fits_bf16, scratch, run, true   \
        }                                                                                          \
    }

const struct conv_kernel winograd_weights_16[2] = KERNELS(16);
const struct conv_kernel winograd_weights_8[2] = KERNELS(8);
