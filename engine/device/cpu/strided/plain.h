/* SPDX-License-Identifier: MIT */

/*
 * Instead of the maps where the kernel is 1x1 and a tile one pixel of a plain product of
 * matrices: pixels are gathered and scattered. Part of strided/blocked.h.
 */

static TARGET void plain_x(const struct tiles *t, const struct conv_shape *s, const float *x,
                           int block, float *values)
{
    float *out = values + (size_t)(block * t->count + tiles_first(t)) * LANES;
    for (int n = t->first + t->from; n < t->first + t->to; n++) {
        const struct image image = image_at(n, s->in, block, s->in_h, s->in_w);
        for (int i = 0; i < s->out_h; i++) {
            const float *in = x + image.offset + (size_t)(2 * i * image.w) * LANES;
            for (int j = 0; j < s->out_w; j++, in += 2 * LANES, out += LANES)
                v_store(out, v_load(in));
        }
    }
}

static TARGET void plain_dy(const struct tiles *t, const struct conv_shape *s, const float *dy,
                            int block, float *values)
{
    const size_t size = (size_t)(s->out_h * s->out_w) * LANES;
    float *out = values + (size_t)(block * t->count + tiles_first(t)) * LANES;
    for (int n = t->first + t->from; n < t->first + t->to; n++, out += size) {
        const struct image image = image_at(n, s->out, block, s->out_h, s->out_w);
        memcpy(out, dy + image.offset, size * sizeof *out);
    }
}

static TARGET void plain_turned(const struct tiles *t, const struct conv_shape *s, const float *dy,
                                int block, float *products)
{
    size_t step;
    float *out = products + group_place(s->out, t->count, block, &step);
    out += (size_t)tiles_first(t) * step;
    for (int n = t->first + t->from; n < t->first + t->to; n++) {
        const struct image image = image_at(n, s->out, block, s->out_h, s->out_w);
        const float *in = dy + image.offset;
        for (int i = 0; i < image.h * image.w; i++, in += LANES, out += step)
            v_store(out, v_load(in));
    }
}

static TARGET void plain_y(const struct conv_pass *pass, const struct tiles *t, int block,
                           const float *products)
{
    const struct conv_shape *s = pass->shape;
    const vector bias = pass->bias ? v_load(pass->bias + (size_t)block * LANES) : v_zero();
    const bool stream = strided_streams(s, CONV_FORWARD);
    const int pixels = s->out_h * s->out_w;
    size_t step;
    const float *in = products + group_place(s->out, t->count, block, &step);
    for (int n = t->first; n < t->first + t->rows; n++, in += (size_t)pixels * step) {
        const struct image image = image_at(n, s->out, block, s->out_h, s->out_w);
        put_outputs(s, in, step, pixels, bias, stream, (float *)pass->y + image.offset);
    }
    v_fence();
}

/* Pixels in odd places had no part in y. */
static TARGET void plain_dx(const struct conv_pass *pass, const struct tiles *t, int block,
                            const float *products)
{
    const struct conv_shape *s = pass->shape;
    const bool stream = strided_streams(s, CONV_BACKWARD_DATA);
    size_t step;
    const float *in = products + group_place(s->in, t->count, block, &step);
    for (int n = t->first; n < t->first + t->rows; n++) {
        const struct image image = image_at(n, s->in, block, s->in_h, s->in_w);
        float *dx = (float *)pass->dx + image.offset;
        for (int i = 0; i < image.h; i++) {
            for (int j = 0; j < image.w; j++, dx += LANES) {
                if (i % 2 == 0 && j % 2 == 0) {
                    v_put(dx, v_load(in), stream);
                    in += step;
                } else {
                    v_put(dx, v_zero(), stream);
                }
            }
        }
    }
    v_fence();
}
