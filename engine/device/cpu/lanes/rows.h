/* SPDX-License-Identifier: MIT */

/* Between rows and lanes, for lanes/kernels.h. */

static TARGET void to_rows(const float *x, int count, float *rows, ptrdiff_t stride)
{
    for (int k = 0; k < count; k += LANES) {
        vector m[LANES];
        for (int i = 0; i < LANES; i++)
            m[i] = k + i < count ? v_load(x + (k + i) * LANES) : v_all(0);
        transpose(m);
        for (int i = 0; i < LANES; i++)
            v_store(rows + i * stride + k, m[i]);
    }
}

static TARGET void from_rows(const float *rows, ptrdiff_t stride, int count, float *x)
{
    for (int k = 0; k < count; k += LANES) {
        vector m[LANES];
        for (int i = 0; i < LANES; i++)
            m[i] = v_load(rows + i * stride + k);
        transpose(m);
        for (int i = 0; i < LANES && k + i < count; i++)
            v_store(x + (k + i) * LANES, m[i]);
    }
}

static TARGET void add_lanes(const float *x, int count, float *sums)
{
    for (int k = 0; k < count; k += LANES) {
        vector m[LANES], sum;
        for (int i = 0; i < LANES; i++)
            m[i] = v_load(x + (k + i) * LANES);
        transpose(m);
        sum = m[0];
        for (int i = 1; i < LANES; i++)
            sum += m[i];
        v_store(sums + k, sum);
    }
}

/* Numbers [at, at + LANES) of all rows, or as many as there are. */
static inline TARGET void load_block(const struct lanes_rows *rows, int at, int count,
                                     vector m[LANES])
{
    float part[LANES] = {0};
    for (int i = 0; i < LANES; i++) {
        if (count >= LANES) {
            m[i] = rows->bytes[0] ? v_bytes(rows->bytes[i] + at) : v_load(rows->floats[i] + at);
            continue;
        }
        for (int k = 0; k < count; k++)
            part[k] = rows->bytes[0] ? (float)rows->bytes[i][at + k] : rows->floats[i][at + k];
        m[i] = v_load(part);
    }
    transpose(m);
}

static TARGET void load(const struct lanes_image *image, const struct lanes_rows *rows, float *x)
{
    const int pixels = image->h * image->w;
    clear_border(image, x);
    for (int c = 0; c < image->c; c++) {
        const vector scale = v_all(rows->bytes[0] ? rows->scale[c] : 1),
                     shift = v_all(rows->bytes[0] ? rows->shift[c] : 0);
        float *at = x + (c * lanes_plane(image) + lanes_first(image)) * LANES;
        for (int i = 0, column = 0; i < pixels; i += LANES) {
            const int count = pixels - i < LANES ? pixels - i : LANES;
            vector m[LANES];
            load_block(rows, c * pixels + i, count, m);
            for (int k = 0; k < count; k++) {
                v_store(at, v_fma(m[k], scale, shift));
                at += LANES;
                if (++column == image->w) {
                    column = 0;
                    at += 2 * image->pad_w * LANES;
                }
            }
        }
    }
}
