/* SPDX-License-Identifier: MIT */

/* Operations of lanes/kernels.h on single numbers. */

static TARGET void activate(enum lanes_act act, const struct lanes_image *image, const float *x,
                            float *y)
{
    act_of(act, x, lanes_size(image), y);
    clear_border(image, y);
}

static TARGET void activate_back(enum lanes_act act, const struct lanes_image *image,
                                 const float *y, float *d, float *sums)
{
    for (int c = 0; c < image->c; c++) {
        vector sum = v_all(0);
        for (int h = 0; h < image->h; h++) {
            const ptrdiff_t row =
                (c * lanes_plane(image) + lanes_first(image) + h * lanes_row(image)) * LANES;
            for (int i = 0; i < image->w; i++) {
                const ptrdiff_t at = row + i * LANES;
                vector v = act_back(act, v_load(y + at), v_load(d + at));
                v_store(d + at, v);
                sum += v;
            }
        }
        if (sums)
            v_store(sums + c * LANES, v_load(sums + c * LANES) + sum);
    }
}

static TARGET void mask(const float *x, const float *factor, int count, float *y)
{
    for (int i = 0; i < count; i++) {
        const vector f = v_load(factor + i * LANES);
        v_store(y + i * LANES, v_keep_positive(f, v_load(x + i * LANES) * f));
    }
}
