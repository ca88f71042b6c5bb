/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/weights_plan.h"

#include "engine/device/cpu/winograd/weights.h"

#define MAX_WIDTH 32                 /* V and D of a run, and the sums, are 20 KB for each point */
#define OWN_BYTES ((size_t)64 << 20) /* of sums */
#define PADDING   16                 /* floats: a cache line */
#define CHUNK     128                /* tiles, about */
#define FIELD     256                /* channels */

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
    return WINOGRAD_POINTS * winograd_squares(w) * (size_t)w->width * (size_t)w->width *
           sizeof(float);
}

/* Whether V and D of all tiles are no larger than all sums. */
static bool few_tiles(const struct winograd_weights *w)
{
    return w->tiles * ((size_t)w->in_groups + (size_t)w->out_groups) <=
           winograd_squares(w) * (size_t)w->width;
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
        while (winograd_squares(w) % count != 0 && winograd_squares(w) < 4 * count &&
               w->width > w->block)
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

/*
 * Large fields, but enough of them that threads that share the work all have some. A square that is
 * finished at once is a field of its own: the sums of its points are to stay in the caches.
 */
static void set_fields(struct winograd_weights *w, int threads)
{
    const size_t workers = w->parts == 1 ? (size_t)threads : 1;
    w->field = w->single || w->width > FIELD ? 1 : FIELD / w->width;
    while (!w->single && winograd_fields(w) * WINOGRAD_POINTS < 4 * workers && w->field > 1)
        w->field /= 2;
}

static struct winograd_side cut_side(int outputs)
{
    const struct winograd_cut cut = winograd_cut(outputs);
    return (struct winograd_side){cut.fours, cut.fours + cut.threes};
}

static const struct winograd_weights_kernels *kernels_of(const struct conv_shape *shape)
{
#if defined(__x86_64__)
    if (shape->bf16)
        return shape->in_block == 16 ? &winograd_weights_avx512_bf16 : &winograd_weights_avx2_bf16;
    return shape->in_block == 16 ? &winograd_weights_avx512 : &winograd_weights_avx2;
#else
    (void)shape;
    return NULL;
#endif
}

void winograd_weights_plan(struct winograd_weights *w, const struct conv_shape *s, int threads)
{
    *w = (struct winograd_weights){.shape = s, .kernels = kernels_of(s), .block = s->in_block};
    w->high = cut_side(s->out_h);
    w->wide = cut_side(s->out_w);
    w->bands = (size_t)s->rows * (size_t)w->high.count;
    w->tiles = w->bands * (size_t)w->wide.count;
    set_parts(w, threads);
    set_chunk(w);
    set_fields(w, threads);
    const size_t tiles = w->chunk * (size_t)w->wide.count, width = (size_t)w->width;
    w->panel = w->made = tiles * width + PADDING;
    w->sums = width * width + PADDING;
    if (w->kernels->shrink) { /* pairs, and one more of each as ranges begin anywhere: panel_at */
        w->panel = (tiles / 2 + 1) * width + PADDING;
        w->runs = ceil_div(tiles, WINOGRAD_SCALED_RUN) + 1;
    }
}

struct winograd_weights_layout winograd_weights_layout(const struct winograd_weights *w,
                                                       int threads)
{
    struct winograd_weights_layout l;
    l.scales = winograd_panels(w) * w->panel;
    l.sums = l.scales + winograd_panels(w) * w->runs * (size_t)w->width;
    const size_t kept = w->single ? (size_t)threads : winograd_squares(w);
    const size_t workers = w->parts == 1 ? shorter((size_t)threads, winograd_all_groups(w)) : 1;
    l.bias = l.sums + kept * WINOGRAD_POINTS * w->sums;
    l.made = ceil_div(l.bias + (size_t)w->out_groups * (size_t)w->width, PADDING) * PADDING;
    l.end = l.made + (w->kernels->shrink ? workers * WINOGRAD_POINTS * w->made : 0);
    l.end = ceil_div(l.end, 1024) * 1024;
    return l;
}
