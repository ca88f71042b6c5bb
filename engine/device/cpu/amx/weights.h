/* SPDX-License-Identifier: MIT */

/*
 * Gradients of the weights. Part of blocked.h. The gradient of a weight is a sum over rows and
 * pixels of dy: dy times the pixel of x that the tap reads there. 32 rows of a batch are a group;
 * both are packed into tiles: x as [block of channels][pixel][16 channels][32 rows], dy as
 * [block][pixel] [16 pairs of rows][16 channels][2]. A tile of sums is a block of weights as it is
 * stored. Pictures are cut into bands of lines whose tiles fit a core's cache.
 *
 * The groups of rows are divided into parts, each with sums of its own while these fit PARTS_BYTES;
 * the threads of a part share the products, a unit of which is a pair of blocks of dy with a pair
 * of x.
 */

#define GROUP (2 * TILE_LINES)
#ifndef BAND_BYTES /* tests have smaller ones */
#define BAND_BYTES  ((size_t)1 << 20)
#define PARTS_BYTES ((size_t)8 << 20) /* of gradients that are added up at the end */
#endif

struct weights_gradient {
    const struct conv_pass *pass;
    const struct conv_shape *shape;
    struct side x, dy;
    int taps, groups;
    int parts;    /* of the groups */
    int shares;   /* threads of a part, which divide the units */
    int units;    /* [pair of dy][pair of x] */
    int band;     /* lines of dy */
    int x_lines;  /* that a band reads at most */
    size_t count; /* gradients */
    float *sums;  /* of the parts but the first */
    double *bias; /* [part][channel] */
    char *thread_memory;
    size_t thread_bytes, x_bytes, dy_bytes, bytes;
};

static int lines_read(const struct conv_shape *s, int band)
{
    const int lines = (band - 1) * s->stride_h + s->kernel_h;
    return lines < s->in_h ? lines : s->in_h;
}

/* Pairs of dy that the units of a share have at most: these follow one another. */
static int pairs_of_share(const struct weights_gradient *g)
{
    const int units = (g->units + g->shares - 1) / g->shares;
    const int pairs = (units + g->x.pairs - 2) / g->x.pairs + 1;
    return pairs < g->dy.pairs ? pairs : g->dy.pairs;
}

/* Cut dy into bands of `band` lines: what a thread needs for the tiles of one. */
static void set_band(struct weights_gradient *g, int band)
{
    g->band = band;
    g->x_lines = lines_read(g->shape, band);
    g->x_bytes = (size_t)(g->x.blocks * g->x_lines * g->x.w) * TILE_BYTES;
    g->dy_bytes = (size_t)(2 * pairs_of_share(g) * band * g->dy.w) * TILE_BYTES;
}

/* As many threads as possible get work; of equal choices the one with most parts, as shares of a
 * part pack the same values. */
static void divide(struct weights_gradient *g, int threads)
{
    const size_t bytes = g->count * sizeof(float);
    g->parts = g->shares = 0;
    for (int parts = g->groups < threads ? g->groups : threads; parts > 0; parts--) {
        const int shares = threads / parts < g->units ? threads / parts : g->units;
        if ((parts == 1 || (size_t)(parts - 1) * bytes <= PARTS_BYTES) &&
            parts * shares > g->parts * g->shares) {
            g->parts = parts;
            g->shares = shares;
        }
    }
}

static void weights_plan(struct weights_gradient *g, const struct conv_shape *s, int threads,
                         char *scratch)
{
    *g = (struct weights_gradient){.shape = s, .x = side_of(s, true), .dy = side_of(s, false)};
    g->taps = s->kernel_h * s->kernel_w;
    g->groups = (s->rows + GROUP - 1) / GROUP;
    g->count = (size_t)s->in * (size_t)s->out * (size_t)g->taps;
    g->units = g->dy.pairs * g->x.pairs;
    divide(g, threads);
    set_band(g, s->out_h);
    while (g->band > 1 && g->x_bytes + g->dy_bytes > BAND_BYTES)
        set_band(g, g->band - 1);
    g->thread_bytes = g->x_bytes + g->dy_bytes + TILE_BYTES;
    size_t used = 0;
    const size_t sums = reserve(&used, (size_t)(g->parts - 1) * g->count * sizeof(float)),
                 bias = reserve(&used, (size_t)(g->parts * s->out) * sizeof(double)),
                 own = reserve(&used, (size_t)(g->parts * g->shares) * g->thread_bytes);
    g->bytes = used;
    if (!scratch)
        return;
    g->sums = (float *)(scratch + sums);
    g->bias = (double *)(scratch + bias);
    g->thread_memory = scratch + own;
}

/* One thread's share of a part. */
struct task {
    int first_group, end_group, first, end; /* units */
    int x_pair, x_end, dy_pair, dy_end;     /* pairs of blocks that they take */
    float *sums;
    float *discarded; /* a tile for the sums of a block that is missing */
    double *bias;     /* NULL: not wanted */
    uint16_t *x, *dy;
};

static struct task task_of(const struct weights_gradient *g, int thread)
{
    const int part = thread / g->shares, share = thread % g->shares;
    char *own = g->thread_memory + (size_t)thread * g->thread_bytes;
    struct task t = {.first_group = g->groups * part / g->parts,
                     .end_group = g->groups * (part + 1) / g->parts,
                     .first = g->units * share / g->shares,
                     .end = g->units * (share + 1) / g->shares,
                     .x_end = g->x.pairs,
                     .sums = part == 0 ? g->pass->dw : g->sums + (size_t)(part - 1) * g->count,
                     .discarded = (float *)(own + g->thread_bytes - TILE_BYTES),
                     .bias = g->pass->dbias ? g->bias + (ptrdiff_t)part * g->shape->out : NULL,
                     .x = (uint16_t *)own,
                     .dy = (uint16_t *)(own + g->x_bytes)};
    t.dy_pair = t.first / g->x.pairs;
    t.dy_end = (t.end - 1) / g->x.pairs + 1;
    if (t.dy_end - t.dy_pair == 1) {
        t.x_pair = t.first % g->x.pairs;
        t.x_end = (t.end - 1) % g->x.pairs + 1;
    }
    return t;
}

/* Whether it is this share that adds up the bias for a pair of dy, which others may take, too. */
static bool has_bias(const struct weights_gradient *g, const struct task *t, int dy_pair)
{
    const int unit = dy_pair * g->x.pairs;
    return t->bias && unit >= t->first && unit < t->end;
}

/* --- packing --- */

/* A band: lines [line, line + lines) of dy in a group, and what they read. */
struct band {
    int group, line, lines;
    int x_line, x_lines;
    bool first; /* of the task: sums start from zero */
};

static void pack_band(const struct weights_gradient *g, const struct task *t,
                      const struct band *band)
{
    const int first = band->group * GROUP, rows = g->shape->rows - first;
    const ptrdiff_t x_row = (ptrdiff_t)g->x.blocks * g->x.pixels * BLOCK,
                    dy_row = (ptrdiff_t)g->dy.blocks * g->dy.pixels * BLOCK;
    const uint16_t *x = (const uint16_t *)g->pass->x + first * x_row,
                   *dy = (const uint16_t *)g->pass->dy + first * dy_row;
    const int x_pixels = band->x_lines * g->x.w, dy_pixels = band->lines * g->dy.w;
    for (int b = 2 * t->x_pair; b < 2 * t->x_end && b < g->x.blocks; b++)
        pack_pixels(x + ((ptrdiff_t)b * g->x.pixels + (ptrdiff_t)band->x_line * g->x.w) * BLOCK,
                    x_row, rows, x_pixels, g->pass->norm, (size_t)b * BLOCK, true,
                    t->x + (ptrdiff_t)b * x_pixels * TILE);
    for (int b = 2 * t->dy_pair; b < 2 * t->dy_end && b < g->dy.blocks; b++) {
        uint16_t *to = t->dy + (ptrdiff_t)(b - 2 * t->dy_pair) * dy_pixels * TILE;
        pack_pixels(dy + ((ptrdiff_t)b * g->dy.pixels + (ptrdiff_t)band->line * g->dy.w) * BLOCK,
                    dy_row, rows, dy_pixels, NULL, 0, false, to);
        if (has_bias(g, t, b / 2))
            add_bias(to, dy_pixels, t->bias + (ptrdiff_t)b * BLOCK);
    }
}

/* --- products --- */

/* A line of pixels under a tap. */
struct line {
    const uint16_t *x[2], *dy[2]; /* tiles of the first pixel, of two blocks */
    int pixels;
};

/* sums[i][j] of block i of x and j of dy; `first`: they start from zero. */
TARGET static void add_lines(const struct line *lines, int count, ptrdiff_t x_step, bool first,
                             float *const sums[2][2])
{
    TILES_ARE_STORED;
    if (first) {
        sums_clear();
    } else {
        tile_load(0, sums[0][0]);
        tile_load(1, sums[0][1]);
        tile_load(2, sums[1][0]);
        tile_load(3, sums[1][1]);
    }
    for (int i = 0; i < count; i++) {
        const uint16_t *x0 = lines[i].x[0], *x1 = lines[i].x[1], *y0 = lines[i].dy[0],
                       *y1 = lines[i].dy[1];
        for (int pixel = 0; pixel < lines[i].pixels; pixel++) {
            sums_add(x0, x1, y0, y1);
            x0 += x_step;
            x1 += x_step;
            y0 += TILE;
            y1 += TILE;
        }
    }
    tile_store(0, sums[0][0]);
    tile_store(1, sums[0][1]);
    tile_store(2, sums[1][0]);
    tile_store(3, sums[1][1]);
}

/* Pixels [*begin, *end) of a line of dy read under column kw of the windows. */
static void columns_under(const struct conv_shape *s, int kw, int *begin, int *end)
{
    const int from = s->pad_w - kw, to = s->in_w - 1 + s->pad_w - kw;
    *begin = from > 0 ? (from + s->stride_w - 1) / s->stride_w : 0;
    *end = to < 0 ? 0 : to / s->stride_w + 1;
    if (*end > s->out_w)
        *end = s->out_w;
}

/* The first blocks of a pair of x and one of dy in a band: their tiles, and how far it is to the
 * second ones'; 0: there is none. */
struct operands {
    const uint16_t *x, *dy;
    ptrdiff_t x_next, dy_next;
};

/* The lines of a band under a tap; returns their number. */
static int find_lines(const struct weights_gradient *g, const struct band *band, int tap,
                      const struct operands *o, struct line *lines)
{
    const struct conv_shape *s = g->shape;
    const int kh = tap / s->kernel_w, kw = tap % s->kernel_w;
    int begin, end, found = 0;
    columns_under(s, kw, &begin, &end);
    for (int i = 0; i < band->lines && begin < end; i++) {
        const int h = (band->line + i) * s->stride_h - s->pad_h + kh;
        const int w = begin * s->stride_w - s->pad_w + kw;
        if (h < 0 || h >= s->in_h)
            continue;
        struct line *line = &lines[found++];
        line->pixels = end - begin;
        line->x[0] = o->x + ((ptrdiff_t)(h - band->x_line) * g->x.w + w) * TILE;
        line->x[1] = line->x[0] + o->x_next;
        line->dy[0] = o->dy + ((ptrdiff_t)i * g->dy.w + begin) * TILE;
        line->dy[1] = line->dy[0] + o->dy_next;
    }
    return found;
}

/* A pair of blocks of x and one of dy. */
static void add_pairs(const struct weights_gradient *g, const struct task *t,
                      const struct band *band, int x_pair, int dy_pair)
{
    const ptrdiff_t x_size = (ptrdiff_t)band->x_lines * g->x.w * TILE,
                    dy_size = (ptrdiff_t)band->lines * g->dy.w * TILE,
                    block_size = (ptrdiff_t)g->taps * BLOCK * BLOCK;
    const bool two[] = {2 * x_pair + 1 < g->x.blocks, 2 * dy_pair + 1 < g->dy.blocks};
    const struct operands o = {.x = t->x + 2 * x_pair * x_size,
                               .dy = t->dy + 2 * (dy_pair - t->dy_pair) * dy_size,
                               .x_next = two[0] ? x_size : 0,
                               .dy_next = two[1] ? dy_size : 0};
    float *first = t->sums + (2 * (ptrdiff_t)dy_pair * g->x.blocks + 2 * x_pair) * block_size;
    struct line lines[MOST_LINES];
    for (int tap = 0; tap < g->taps; tap++, first += BLOCK * BLOCK) {
        float *const next = first + g->x.blocks * block_size; /* of the second block of dy */
        float *const sums[2][2] = {{first, two[1] ? next : t->discarded},
                                   {two[0] ? first + block_size : t->discarded,
                                    two[0] && two[1] ? next + block_size : t->discarded}};
        const int count = find_lines(g, band, tap, &o, lines);
        if (count || band->first)
            add_lines(lines, count, (ptrdiff_t)g->shape->stride_w * TILE, band->first, sums);
    }
}

static void run_band(const struct weights_gradient *g, const struct task *t, struct band *band)
{
    const struct conv_shape *s = g->shape;
    const int top = band->line * s->stride_h - s->pad_h,
              bottom = (band->line + band->lines - 1) * s->stride_h - s->pad_h + s->kernel_h;
    band->x_line = top < 0 ? 0 : top < s->in_h ? top : s->in_h;
    band->x_lines = (bottom < s->in_h ? bottom : s->in_h) - band->x_line;
    if (band->x_lines < 0)
        band->x_lines = 0;
    pack_band(g, t, band);
    for (int unit = t->first; unit < t->end; unit++)
        add_pairs(g, t, band, unit % g->x.pairs, unit / g->x.pairs);
    band->first = false;
}

static void run_task(const struct weights_gradient *g, int thread)
{
    const struct task t = task_of(g, thread);
    struct band band = {.first = true};
    for (int o = 2 * t.dy_pair * BLOCK; o < 2 * t.dy_end * BLOCK && o < g->shape->out; o++)
        if (has_bias(g, &t, o / (2 * BLOCK)))
            t.bias[o] = 0;
    for (band.group = t.first_group; band.group < t.end_group; band.group++)
        for (band.line = 0; band.line < g->dy.h; band.line += g->band) {
            band.lines = g->dy.h - band.line < g->band ? g->dy.h - band.line : g->band;
            run_band(g, &t, &band);
        }
}

/* Add up the parts, in their order. */
static void join(const struct weights_gradient *g)
{
    float *dw = g->pass->dw;
#pragma omp for
    for (size_t i = 0; i < g->count; i++)
        for (int part = 1; part < g->parts; part++)
            dw[i] += g->sums[(size_t)(part - 1) * g->count + i];
#pragma omp for
    for (int o = 0; o < (g->pass->dbias ? g->shape->out : 0); o++) {
        double sum = 0;
        for (int part = 0; part < g->parts; part++)
            sum += g->bias[(ptrdiff_t)part * g->shape->out + o];
        g->pass->dbias[o] = (float)sum;
    }
}

static void weights_run(const struct conv_pass *pass)
{
    struct weights_gradient g;
    weights_plan(&g, pass->shape, pass->threads, pass->scratch);
    g.pass = pass;
#pragma omp parallel num_threads(pass->threads)
    {
        tiles_begin();
        if (omp_get_thread_num() < g.parts * g.shares)
            run_task(&g, omp_get_thread_num());
        tiles_end();
#pragma omp barrier
        join(&g);
    }
}

static size_t weights_scratch(const struct conv_shape *shape, enum conv_direction direction,
                              int threads)
{
    struct weights_gradient g;
    (void)direction;
    weights_plan(&g, shape, threads, NULL);
    return g.bytes;
}
