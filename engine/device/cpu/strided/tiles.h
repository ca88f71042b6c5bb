/* SPDX-License-Identifier: MIT */

/*
 * From tiles of images to the matrices of strided/blocked.h, and back. Part of that header.
 */

/* Tiles of some rows, all of one pair of kinds. */
struct tiles {
    const struct strided_run *h, *w;
    const struct strided_side_kind *hk, *wk;
    int first, rows; /* of the batch */
    int count;
    int from, to; /* rows of these to be mapped */
};

static struct tiles tiles_of(const struct strided_plan *plan, int rows, int first, int pair)
{
    struct tiles t = {.h = &plan->h.runs[pair / plan->w.count],
                      .w = &plan->w.runs[pair % plan->w.count],
                      .first = first,
                      .rows = rows};
    t.hk = &strided_kinds[t.h->kind];
    t.wk = &strided_kinds[t.w->kind];
    t.count = t.rows * t.h->count * t.w->count;
    t.to = t.rows;
    return t;
}

/* Tile `index`: its row of the batch, and its first output. */
struct tile {
    int row, top, left;
};

static inline struct tile tile_at(const struct tiles *t, int index)
{
    const int side = t->w->count, area = t->h->count * side;
    return (struct tile){.row = t->first + index / area,
                         .top = t->h->first + index % area / side * t->hk->outputs,
                         .left = t->w->first + index % side * t->wk->outputs};
}

/* The tiles to be mapped: [first, end). */
static inline int tiles_first(const struct tiles *t)
{
    return t->from * t->h->count * t->w->count;
}

static inline int tiles_end(const struct tiles *t)
{
    return t->to * t->h->count * t->w->count;
}

/* One block of channels of a row: [h][w][LANES]. */
struct image {
    size_t offset;
    int h, w;
};

static inline struct image image_at(int row, int channels, int block, int h, int w)
{
    const size_t index = (size_t)row * (size_t)(channels / LANES) + (size_t)block;
    return (struct image){index * (size_t)(h * w) * LANES, h, w};
}

/* A window into an image, some of which may lie outside. */
struct window {
    int top, left, height, width;
};

static inline bool lies_inside(const struct image *image, const struct window *at)
{
    return at->top >= 0 && at->left >= 0 && at->top + at->height <= image->h &&
           at->left + at->width <= image->w;
}

/* Zeros where it lies outside. */
static TARGET void window_copy(const float *data, const struct image *image,
                               const struct window *at, float *copy)
{
    for (int i = 0; i < at->height; i++) {
        const int y = at->top + i;
        for (int j = 0; j < at->width; j++, copy += LANES) {
            const int x = at->left + j;
            const bool there = y >= 0 && y < image->h && x >= 0 && x < image->w;
            v_store(copy, there ? v_load(data + ((ptrdiff_t)y * image->w + x) * LANES) : v_zero());
        }
    }
}

/* Map a window of an image; number (i, j) of the result goes to out[(i * columns + j) * panel]. */
static TARGET void map_window(enum strided_map map, const struct tiles *t, const float *data,
                              const struct image *image, const struct window *at, float *out,
                              size_t panel, int rows, int columns)
{
    float copy[STRIDED_MAX_TILE * LANES] ALIGNED, half[STRIDED_MAX_TILE * LANES] ALIGNED;
    const size_t width = (size_t)at->width * LANES;
    struct spread from = {(size_t)image->w * LANES, LANES};
    const float *in = data + image->offset;
    if (lies_inside(image, at)) {
        in += (size_t)(at->top * image->w + at->left) * LANES;
    } else {
        window_copy(in, image, at, copy);
        in = copy;
        from.step = width;
    }
    line_maps[map][t->h->kind](in, from, half, (struct spread){width, LANES}, at->width);
    line_maps[map][t->w->kind](half, (struct spread){LANES, width}, out,
                               (struct spread){panel, (size_t)columns * panel}, rows);
}

/* Back: products at in[(i * columns + j) * panel] to `to`. */
static TARGET void map_products(enum strided_map map, const struct tiles *t, const float *in,
                                size_t panel, int columns, int rows, float *out, struct spread to)
{
    float half[STRIDED_MAX_TILE * LANES] ALIGNED;
    const size_t width = (size_t)columns * LANES;
    line_maps[map][t->h->kind](in, (struct spread){(size_t)columns * panel, panel}, half,
                               (struct spread){width, LANES}, columns);
    line_maps[map][t->w->kind](half, (struct spread){LANES, width}, out, to, rows);
}

/* How many tiles ahead memory is asked for what is mapped. */
#define AHEAD 4

/*
 * Ask for the pixels of a tile, `scale` for each of its outputs along a side; after the last tile
 * comes the next block. The rows of a tile are too short for the processor to see what comes
 * next. To be inlined early, as GCC takes a function that only prefetches for one without an
 * effect, and drops the call.
 */
static inline __attribute__((always_inline)) void fetch_tile(const struct tiles *t,
                                                             const float *data,
                                                             const struct image *like, int channels,
                                                             int block, int index, int scale)
{
    if (index >= tiles_end(t)) {
        index -= tiles_end(t) - tiles_first(t);
        block++;
    }
    if (index >= tiles_end(t) || block * LANES >= channels)
        return;
    const struct tile tile = tile_at(t, index);
    const struct image image = image_at(tile.row, channels, block, like->h, like->w);
    const int top = scale * tile.top, left = scale * tile.left;
    const int bottom = least(top + scale * t->hk->outputs, image.h);
    const int right = least(left + scale * t->wk->outputs, image.w);
    for (int y = top; y < bottom; y++)
        for (int x = left * LANES; x < right * LANES; x += 16)
            __builtin_prefetch(data + image.offset + (ptrdiff_t)(y * image.w) * LANES + x);
}

/* A block of x at its lines, as values. */
static TARGET void map_x(const struct tiles *t, const struct conv_shape *s, const float *x,
                         int block, float *values)
{
    const size_t panel = strided_panel(t->count, s->in);
    float *out = values + (size_t)(block * t->count + tiles_first(t)) * LANES;
    for (int i = tiles_first(t); i < tiles_end(t); i++, out += LANES) {
        const struct tile tile = tile_at(t, i);
        const struct image image = image_at(tile.row, s->in, block, s->in_h, s->in_w);
        fetch_tile(t, x, &image, s->in, block, i + AHEAD, 2);
        const struct window at = {2 * tile.top + t->hk->first, 2 * tile.left + t->wk->first,
                                  t->hk->inputs, t->wk->inputs};
        map_window(STRIDED_X, t, x, &image, &at, out, panel, t->hk->lines, t->wk->lines);
    }
}

/* A block of dy at its points, as values. */
static TARGET void map_dy(const struct tiles *t, const struct conv_shape *s, const float *dy,
                          int block, float *values)
{
    const size_t panel = strided_panel(t->count, s->out);
    float *out = values + (size_t)(block * t->count + tiles_first(t)) * LANES;
    for (int i = tiles_first(t); i < tiles_end(t); i++, out += LANES) {
        const struct tile tile = tile_at(t, i);
        const struct image image = image_at(tile.row, s->out, block, s->out_h, s->out_w);
        fetch_tile(t, dy, &image, s->out, block, i + AHEAD, 1);
        const struct window at = {tile.top, tile.left, t->hk->gradients, t->wk->gradients};
        map_window(STRIDED_DY, t, dy, &image, &at, out, panel, t->hk->points, t->wk->points);
    }
}

/* A block of dy as gradients of the products, a right factor. */
static TARGET void map_turned(const struct tiles *t, const struct conv_shape *s, const float *dy,
                              int block, float *products)
{
    const size_t panel = strided_panel(t->count, s->out);
    size_t step;
    float *out = products + group_place(s->out, t->count, block, &step);
    out += (size_t)tiles_first(t) * step;
    for (int i = tiles_first(t); i < tiles_end(t); i++, out += step) {
        const struct tile tile = tile_at(t, i);
        const struct image image = image_at(tile.row, s->out, block, s->out_h, s->out_w);
        fetch_tile(t, dy, &image, s->out, block, i + AHEAD, 1);
        const struct window at = {tile.top, tile.left, t->hk->outputs, t->wk->outputs};
        map_window(STRIDED_Y_TURNED, t, dy, &image, &at, out, panel, t->hk->points, t->wk->points);
    }
}

/* Some outputs in a row, `step` floats apart, into y. */
static inline TARGET void put_outputs(const struct conv_shape *s, const float *outputs, size_t step,
                                      int count, vector bias, bool stream, float *y)
{
    for (int i = 0; i < count; i++, outputs += step, y += LANES) {
        vector v = v_load(outputs) + bias;
        if (s->add)
            v += v_load(y);
        if (s->relu)
            v = v_max(v, v_zero());
        v_put(y, v, stream);
    }
}

static TARGET void finish_y(const struct conv_pass *pass, const struct tiles *t, int block,
                            const float *products)
{
    const struct conv_shape *s = pass->shape;
    const size_t panel = strided_panel(t->count, s->out);
    const struct spread to = {LANES, (size_t)t->wk->outputs * LANES};
    const bool stream = strided_streams(s, CONV_FORWARD);
    float outputs[STRIDED_MAX_TILE * LANES] ALIGNED;
    const vector bias = pass->bias ? v_load(pass->bias + (size_t)block * LANES) : v_zero();
    size_t step;
    const float *in = products + group_place(s->out, t->count, block, &step);
    for (int i = 0; i < t->count; i++, in += step) {
        const struct tile tile = tile_at(t, i);
        const struct image image = image_at(tile.row, s->out, block, s->out_h, s->out_w);
        const int columns = least(t->wk->outputs, image.w - tile.left);
        float *y =
            (float *)pass->y + image.offset + (size_t)(tile.top * image.w + tile.left) * LANES;
        map_products(STRIDED_Y, t, in, panel, t->wk->points, t->hk->outputs, outputs, to);
        for (int j = 0; j < least(t->hk->outputs, image.h - tile.top); j++)
            put_outputs(s, outputs + (size_t)j * to.next, LANES, columns, bias, stream,
                        y + (size_t)(j * image.w) * LANES);
    }
    v_fence();
}

static TARGET void finish_dx(const struct conv_pass *pass, const struct tiles *t, int block,
                             const float *products)
{
    const struct conv_shape *s = pass->shape;
    const size_t panel = strided_panel(t->count, s->in);
    const struct spread to = {LANES, (size_t)t->wk->data * LANES};
    const bool stream = strided_streams(s, CONV_BACKWARD_DATA);
    float data[STRIDED_MAX_TILE * LANES] ALIGNED;
    size_t step;
    const float *in = products + group_place(s->in, t->count, block, &step);
    for (int i = 0; i < t->count; i++, in += step) {
        const struct tile tile = tile_at(t, i);
        const struct image image = image_at(tile.row, s->in, block, s->in_h, s->in_w);
        const int top = 2 * tile.top, left = 2 * tile.left;
        const int columns = least(t->wk->data, image.w - left);
        float *dx = (float *)pass->dx + image.offset + (size_t)(top * image.w + left) * LANES;
        map_products(STRIDED_DX, t, in, panel, t->wk->lines, t->hk->data, data, to);
        for (int y = 0; y < least(t->hk->data, image.h - top); y++, dx += (size_t)image.w * LANES)
            for (int x = 0; x < columns; x++)
                v_put(dx + (size_t)x * LANES,
                      v_load(data + (size_t)y * to.next + (size_t)x * LANES), stream);
    }
    v_fence();
}
