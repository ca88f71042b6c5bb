/* SPDX-License-Identifier: MIT */

/*
 * Results and gradients of the data. Part of blocked.h. Both sum, for each pixel that they
 * write, products of the pixels under a window with its weights; they differ in which pixels these
 * are and in how the weights lie.
 *
 * 16 rows of a batch are a group. What a group's windows read is packed into tiles: [pair of blocks
 * of channels][pixel][16 rows][32 channels]. The weights are packed once for all: [pair of blocks
 * written][tap][pair read][2 blocks written][16 pairs of channels read][16 channels written][2].
 * Work is cut into units: two pixels of a group and a pair of blocks, which four tiles sum up.
 */

/* A pixel of what is written. */
struct pixel {
    short h, w;
};

struct values {
    const struct conv_pass *pass;
    const struct conv_shape *shape;
    const uint16_t *source;
    uint16_t *result;
    struct side from, to; /* what is read and what is written */
    bool gradient;
    int taps, pixel_pairs; /* pairs of pixels that are written */
    long units;
    uint16_t *weights, *zeros; /* packed; a tile */
    struct pixel *order;
    /* [h or w written][h or w of a tap]: the h or w read, -1 in the padding */
    short *row_under, *column_under;
    char *thread_memory;
    size_t thread_bytes, bytes;
};

/* Tiles of them. */
static long packed_weights(const struct values *v)
{
    return (long)v->to.pairs * v->taps * v->from.pairs * 2;
}

/* All but the pass and what it points at; `scratch` may be NULL when only `bytes` count. */
static void values_plan(struct values *v, const struct conv_shape *s, bool gradient, int threads,
                        char *scratch)
{
    *v = (struct values){.shape = s, .gradient = gradient, .taps = s->kernel_h * s->kernel_w};
    v->from = side_of(s, !gradient);
    v->to = side_of(s, gradient);
    v->pixel_pairs = (v->to.pixels + 1) / 2;
    v->units = (long)((s->rows + TILE_LINES - 1) / TILE_LINES) * v->to.pairs * v->pixel_pairs;
    v->thread_bytes = packed_bytes(v->from) + 4 * TILE_BYTES;
    size_t used = 0;
    const size_t weights = reserve(&used, (size_t)packed_weights(v) * TILE_BYTES),
                 zeros = reserve(&used, TILE_BYTES),
                 order = reserve(&used, (size_t)v->to.pixels * sizeof *v->order),
                 rows = reserve(&used, (size_t)(v->to.h * s->kernel_h) * sizeof(short)),
                 columns = reserve(&used, (size_t)(v->to.w * s->kernel_w) * sizeof(short)),
                 own = reserve(&used, (size_t)threads * v->thread_bytes);
    v->bytes = used;
    if (!scratch)
        return;
    v->weights = (uint16_t *)(scratch + weights);
    v->zeros = (uint16_t *)(scratch + zeros);
    v->order = (struct pixel *)(scratch + order);
    v->row_under = (short *)(scratch + rows);
    v->column_under = (short *)(scratch + columns);
    v->thread_memory = scratch + own;
}

/* Along one axis: where taps of windows of `written` numbers lie among `read` ones. */
static void map_taps(short *under, int written, int read, int kernel, int stride, int pad,
                     bool gradient)
{
    for (int i = 0; i < written; i++)
        for (int k = 0; k < kernel; k++) {
            int at = gradient ? i + pad - k : i * stride - pad + k;
            bool there = at >= 0;
            if (gradient) {
                there = there && at % stride == 0;
                at /= stride;
            }
            under[i * kernel + k] = (short)(there && at < read ? at : -1);
        }
}

/* Pixels that the same taps reach are neighbours in this order, so that both of a pair skip the
 * same taps. */
static void values_tables(const struct values *v)
{
    const struct conv_shape *s = v->shape;
    const int step_h = v->gradient ? s->stride_h : 1, step_w = v->gradient ? s->stride_w : 1;
    struct pixel *next = v->order;
    memset(v->zeros, 0, TILE_BYTES);
    map_taps(v->row_under, v->to.h, v->from.h, s->kernel_h, s->stride_h, s->pad_h, v->gradient);
    map_taps(v->column_under, v->to.w, v->from.w, s->kernel_w, s->stride_w, s->pad_w, v->gradient);
    for (int first_h = 0; first_h < step_h; first_h++)
        for (int first_w = 0; first_w < step_w; first_w++)
            for (int h = first_h; h < v->to.h; h += step_h)
                for (int w = first_w; w < v->to.w; w += step_w)
                    *next++ = (struct pixel){(short)h, (short)w};
}

/* --- packing --- */

/* Tile `number` of the packed weights, in the order given above. */
TARGET static void pack_weights(const struct values *v, long number)
{
    const int pairs = v->from.pairs, in_blocks = v->shape->in / BLOCK;
    const int written = (int)(number / 2 / pairs / v->taps) * 2 + (int)(number % 2);
    const int tap = (int)(number / 2 / pairs % v->taps);
    float *to = (float *)(v->weights + number * TILE);
    for (int half = 0; half < 2; half++, to += BLOCK * BLOCK / 2) {
        const int read = (int)(number / 2 % pairs) * 2 + half;
        const int out = v->gradient ? read : written, in = v->gradient ? written : read;
        if (read >= v->from.blocks || written >= v->to.blocks) {
            memset(to, 0, TILE_BYTES / 2);
            continue;
        }
        const float *w =
            v->pass->w + (((ptrdiff_t)out * in_blocks + in) * v->taps + tap) * BLOCK * BLOCK;
        vector m[BLOCK];
#pragma GCC unroll 16
        for (int i = 0; i < BLOCK; i++)
            m[i] = v_load(w + (ptrdiff_t)i * BLOCK);
        if (v->gradient)
            transpose(m);
#pragma GCC unroll 8
        for (int i = 0; i < BLOCK / 2; i++)
            v_store(to + (ptrdiff_t)i * BLOCK,
                    pairs_of(v_rounded_bf16(m[2 * i]), v_rounded_bf16(m[2 * i + 1])));
    }
}

/* Pixels whose tiles are filled together: those of all rows fit the first-level cache. */
#define PIXELS_AT_ONCE 8

/* A row's block of channels of `pixels` pixels into its places in their tiles. */
INLINE void pack_row(const uint16_t *from, uint16_t *to, int pixels, const struct conv_norm *norm,
                     size_t channel)
{
    for (int i = 0; i < pixels; i++)
        v_store_bf16(to + (ptrdiff_t)i * TILE,
                     read_block(from + (ptrdiff_t)i * BLOCK, norm, channel));
}

TARGET static void clear_row(uint16_t *to, int pixels)
{
    for (int i = 0; i < pixels; i++)
        v_store_bf16(to + (ptrdiff_t)i * TILE, v_zero());
}

TARGET static void pack_block(const struct values *v, int group, int block, uint16_t *to)
{
    const struct conv_norm *norm = v->gradient ? NULL : v->pass->norm;
    const int first = group * TILE_LINES, left = v->shape->rows - first;
    const int rows = block >= v->from.blocks ? 0 : left < TILE_LINES ? left : TILE_LINES;
    for (int pixel = 0; pixel < v->from.pixels;
         pixel += PIXELS_AT_ONCE, to += PIXELS_AT_ONCE * TILE) {
        const int rest = v->from.pixels - pixel;
        const int pixels = rest < PIXELS_AT_ONCE ? rest : PIXELS_AT_ONCE;
        for (int n = 0; n < rows; n++) {
            const ptrdiff_t plane = (ptrdiff_t)(first + n) * v->from.blocks + block;
            const uint16_t *from = v->source + (plane * v->from.pixels + pixel) * BLOCK;
            /* Twice, so that it is compiled without the norm, too. */
            if (norm)
                pack_row(from, to + n * TILE_LINE / 2, pixels, norm, (size_t)block * BLOCK);
            else
                pack_row(from, to + n * TILE_LINE / 2, pixels, NULL, 0);
        }
        for (int n = rows; n < TILE_LINES; n++)
            clear_row(to + n * TILE_LINE / 2, pixels);
    }
}

/* --- products --- */

/* What a tap of two windows reads: tiles of the first pair of blocks, and how far it is to the next
 * pair's. */
struct tap {
    const uint16_t *at[2];
    ptrdiff_t step[2];
    const uint16_t *weights;
};

/* The taps of a unit that read anything; returns their number. Where one pixel of a pair is in the
 * padding, it reads zeros. */
static int find_taps(const struct values *v, const uint16_t *packed, long pixel_pair,
                     const uint16_t *weights, struct tap *taps)
{
    const struct conv_shape *s = v->shape;
    const ptrdiff_t step = (ptrdiff_t)v->from.pixels * TILE,
                    tap_size = (ptrdiff_t)v->from.pairs * 2 * TILE;
    const struct pixel *pixels = v->order + 2 * pixel_pair;
    const int count = 2 * pixel_pair + 1 < v->to.pixels ? 2 : 1;
    int found = 0;
    for (int kh = 0; kh < s->kernel_h; kh++)
        for (int kw = 0; kw < s->kernel_w; kw++, weights += tap_size) {
            struct tap *tap = &taps[found];
            bool any = false;
            tap->weights = weights;
            for (int i = 0; i < 2; i++) {
                const int h = i < count ? v->row_under[pixels[i].h * s->kernel_h + kh] : -1;
                const int w = i < count ? v->column_under[pixels[i].w * s->kernel_w + kw] : -1;
                const bool there = h >= 0 && w >= 0;
                tap->at[i] = there ? packed + ((ptrdiff_t)h * v->from.w + w) * TILE : v->zeros;
                tap->step[i] = there ? step : 0;
                any = any || there;
            }
            found += any;
        }
    return found;
}

/* Four tiles of sums: of the first pixel's two blocks, then of the second's. */
TARGET static void multiply(const struct tap *taps, int count, int pairs, float *sums)
{
    TILES_ARE_STORED;
    sums_clear();
    for (int i = 0; i < count; i++) {
        const uint16_t *a = taps[i].at[0], *b = taps[i].at[1], *w = taps[i].weights;
        for (int pair = 0; pair < pairs; pair++) {
            sums_add(a, b, w, w + TILE);
            a += taps[i].step[0];
            b += taps[i].step[1];
            w += 2 * (ptrdiff_t)TILE;
        }
    }
    tile_store(0, sums);
    tile_store(1, sums + TILE_SUMS);
    tile_store(2, sums + 2 * TILE_SUMS);
    tile_store(3, sums + 3 * TILE_SUMS);
}

/* --- results --- */

/* Of the sums alone: a convolution before a BatchNorm has no bias, ReLU or addition
 * (moments_wanted). */
TARGET static void add_moments(struct conv_moments *moments, const float *sums, int rows)
{
    if (moments->count == 0)
        v_store(moments->origin, v_load(sums));
    const vector origin = v_load(moments->origin);
    vector all = v_zero(), squares = v_zero();
    for (int n = 0; n < rows; n++) {
        const vector off = v_load(sums + (ptrdiff_t)n * BLOCK) - origin;
        all += off;
        squares = v_fma(off, off, squares);
    }
    for (int k = 0; k < BLOCK; k++) {
        moments->sum[k] += (double)all[k];
        moments->square[k] += (double)squares[k];
    }
    moments->count += rows;
}

/* A tile's sums, of a block at one pixel of `rows` rows, to where they belong. */
TARGET static void store_tile(const struct values *v, int first, int rows, int block, int pixel,
                              const float *sums)
{
    const struct conv_shape *s = v->shape;
    const ptrdiff_t row = (ptrdiff_t)v->to.blocks * v->to.pixels * BLOCK;
    const float *bias = v->gradient ? NULL : v->pass->bias;
    const vector shift = bias ? v_load(bias + (ptrdiff_t)block * BLOCK) : v_zero();
    const bool add = s->add && !v->gradient, relu = s->relu && !v->gradient;
    uint16_t *to = v->result + first * row + ((ptrdiff_t)block * v->to.pixels + pixel) * BLOCK;
    for (int n = 0; n < rows; n++, to += row) {
        vector y = v_load(sums + (ptrdiff_t)n * BLOCK) + shift;
        if (add)
            y += v_load_bf16(to);
        if (relu)
            y = v_max(y, v_zero());
        v_store_bf16(to, y);
    }
}

/* What a thread has packed for itself. */
struct worker {
    uint16_t *packed;
    float *sums;                  /* four tiles */
    struct conv_moments *moments; /* NULL: nobody wants them */
    int group;
};

static void run_unit(const struct values *v, struct worker *worker, long unit)
{
    const int pixel_pairs = v->pixel_pairs, pairs = v->to.pairs;
    const int group = (int)(unit / pixel_pairs / pairs), pair = (int)(unit / pixel_pairs % pairs);
    const long pixel_pair = unit % pixel_pairs;
    const int first = group * TILE_LINES;
    const int rows = v->shape->rows - first < TILE_LINES ? v->shape->rows - first : TILE_LINES;
    struct tap taps[MOST_TAPS];
    if (group != worker->group) {
        for (int block = 0; block < 2 * v->from.pairs; block++)
            pack_block(v, group, block,
                       worker->packed + (ptrdiff_t)(block / 2) * v->from.pixels * TILE +
                           block % 2 * BLOCK);
        worker->group = group;
    }
    const int count =
        find_taps(v, worker->packed, pixel_pair,
                  v->weights + (ptrdiff_t)pair * v->taps * v->from.pairs * 2 * TILE, taps);
    multiply(taps, count, v->from.pairs, worker->sums);
    for (int i = 0; i < 4; i++) {
        const int block = 2 * pair + i % 2;
        const long pixel = 2 * pixel_pair + i / 2;
        const float *sums = worker->sums + (ptrdiff_t)i * TILE_SUMS;
        if (block >= v->to.blocks || pixel >= v->to.pixels)
            continue;
        if (worker->moments)
            add_moments(worker->moments + block, sums, rows);
        store_tile(v, first, rows, block, v->order[pixel].h * v->to.w + v->order[pixel].w, sums);
    }
}

static void run_units(const struct values *v, int thread)
{
    const long begin = v->units * thread / v->pass->threads,
               end = v->units * (thread + 1) / v->pass->threads;
    char *own = v->thread_memory + (size_t)thread * v->thread_bytes;
    struct conv_moments *moments = v->gradient ? NULL : v->pass->moments;
    struct worker worker = {.packed = (uint16_t *)own,
                            .sums = (float *)(own + packed_bytes(v->from)),
                            .moments = moments ? moments + (ptrdiff_t)thread * v->to.blocks : NULL,
                            .group = -1};
    for (int i = 0; moments && i < v->to.blocks; i++)
        worker.moments[i] = (struct conv_moments){.count = 0};
    for (long unit = begin; unit < end; unit++)
        run_unit(v, &worker, unit);
}

static void values_run(const struct conv_pass *pass)
{
    const bool gradient = pass->direction == CONV_BACKWARD_DATA;
    struct values v;
    values_plan(&v, pass->shape, gradient, pass->threads, pass->scratch);
    v.pass = pass;
    v.source = gradient ? pass->dy : pass->x;
    v.result = gradient ? pass->dx : pass->y;
    values_tables(&v);
    const long tiles = packed_weights(&v);
#pragma omp parallel num_threads(pass->threads)
    {
#pragma omp for
        for (long i = 0; i < tiles; i++)
            pack_weights(&v, i);
        tiles_begin();
        run_units(&v, omp_get_thread_num());
        tiles_end();
    }
}

static size_t values_scratch(const struct conv_shape *shape, enum conv_direction direction,
                             int threads)
{
    struct values v;
    values_plan(&v, shape, direction == CONV_BACKWARD_DATA, threads, NULL);
    return v.bytes;
}
