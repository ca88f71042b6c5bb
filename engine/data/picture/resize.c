/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One direction: `in` pixels become `whole`, of which `out` are wanted from `begin` on. */
struct axis {
    int in, whole, begin, out;
};

void resizer_free(struct resizer *resizer)
{
    free(resizer->filters);
    free(resizer->weights);
    free(resizer->rows);
    *resizer = (struct resizer){0};
}

static bool reserve_filters(struct resizer *resizer, int pixels, int taps, struct error *err)
{
    if (pixels <= resizer->capacity && taps <= resizer->taps)
        return true;
    free(resizer->filters);
    free(resizer->weights);
    resizer->filters = malloc((size_t)pixels * sizeof *resizer->filters);
    resizer->weights = malloc((size_t)pixels * 2 * (size_t)taps * sizeof *resizer->weights);
    bool ok = resizer->filters && resizer->weights;
    resizer->capacity = ok ? pixels : 0;
    resizer->taps = ok ? taps : 0;
    return ok || error_memory(err, "picture");
}

/* The filter of output pixel `i`: a triangle around its middle, the sum of its weights 1. */
static void shape_filter(struct resizer *resizer, const struct axis *axis, int i, double scale,
                         double support)
{
    const double middle = (axis->begin + i + 0.5) * scale;
    int first = (int)(middle - support + 0.5), end = (int)(middle + support + 0.5);
    int16_t *low = resizer->weights + 2 * (size_t)i * (size_t)resizer->taps;
    int16_t *high = low + resizer->taps;
    double sum = 0;
    first = first < 0 ? 0 : first;
    end = end > axis->in ? axis->in : end;
    for (int k = first; k < end; k++)
        sum += fmax(0, 1 - fabs((k - middle + 0.5) / support));
    for (int k = first; k < end; k++) {
        const double weight = fmax(0, 1 - fabs((k - middle + 0.5) / support)) / sum;
        filter_split((int32_t)(0.5 + weight * (1 << FILTER_BITS)), &low[k - first],
                     &high[k - first]);
    }
    for (int k = end - first; k < end - first + FILTER_REST; k++)
        low[k] = high[k] = 0;
    resizer->filters[i] = (struct filter){first, end - first, low, high};
}

static bool shape_filters(struct resizer *resizer, const struct axis *axis, struct error *err)
{
    const double scale = (double)axis->in / axis->whole, support = fmax(scale, 1);
    if (!reserve_filters(resizer, axis->out, 2 * (int)ceil(support) + 1 + FILTER_REST, err))
        return false;
    for (int i = 0; i < axis->out; i++)
        shape_filter(resizer, axis, i, scale, support);
    return true;
}

/* The input rows that the axis down needs: *first to *end - 1. */
static void rows_needed(const struct axis *down, int *first, int *end)
{
    const double scale = (double)down->in / down->whole, support = fmax(scale, 1);
    const double top = (down->begin + 0.5) * scale - support + 0.5;
    const double bottom = (down->begin + down->out - 0.5) * scale + support + 0.5;
    *first = top < 0 ? 0 : (int)top;
    *end = bottom > down->in ? down->in : (int)bottom;
}

static bool go_across(struct resizer *resizer, const struct raster *from, const struct axis *across,
                      int first, int end, struct error *err)
{
    const size_t channels = (size_t)from->channels;
    const size_t row = (size_t)across->out * channels;
    const size_t bytes = row * (size_t)(end - first + FILTER_ROWS - 1);
    if (bytes > resizer->row_bytes) {
        free(resizer->rows);
        resizer->rows = malloc(bytes + FILTER_SLACK);
        resizer->row_bytes = resizer->rows ? bytes : 0;
    }
    if (!resizer->rows)
        return error_memory(err, "picture");
    if (!shape_filters(resizer, across, err))
        return false;
    for (int y = first; y < end; y += FILTER_ROWS) {
        const uint8_t *in[FILTER_ROWS];
        uint8_t *out[FILTER_ROWS];
        for (int i = 0; i < FILTER_ROWS; i++) {
            const int there = y + i < end ? y + i : end - 1; /* beyond: any, nobody looks */
            in[i] = from->pixels + (size_t)there * (size_t)from->width * channels;
            out[i] = resizer->rows + (size_t)(y + i - first) * row;
        }
        filter_across(resizer->filters, across->out, from->channels, in, out);
    }
    return true;
}

static bool resize(struct resizer *resizer, const struct raster *from, const struct axis *across,
                   const struct axis *down, struct raster *to, struct error *err)
{
    const size_t row = (size_t)across->out * (size_t)from->channels;
    int first, end;
    rows_needed(down, &first, &end);
    if (!go_across(resizer, from, across, first, end, err) || !shape_filters(resizer, down, err))
        return false;
    for (int y = 0; y < down->out; y++) {
        struct filter filter = resizer->filters[y];
        filter.first -= first;
        filter_down(&filter, resizer->rows, row, to->pixels + (size_t)y * row);
    }
    return true;
}

/* Where the middle begins; halves go to the even number, as Python rounds. */
static int middle_of(int whole, int out)
{
    return (int)nearbyint((whole - out) / 2.0);
}

bool resize_cover(struct resizer *resizer, const struct raster *from, int width, int height,
                  struct raster *to, struct error *err)
{
    struct axis across = {from->width, width, 0, width}, down = {from->height, height, 0, height};
    /* The side that is shorter, measured by what it has to cover, gets its size exactly. */
    if ((int64_t)from->width * height <= (int64_t)from->height * width)
        down.whole = (int)((int64_t)width * from->height / from->width);
    else
        across.whole = (int)((int64_t)height * from->width / from->height);
    across.begin = middle_of(across.whole, width);
    down.begin = middle_of(down.whole, height);
    if (!raster_reserve(to, width, height, from->channels, err))
        return false;
    to->coloured = from->coloured;
    to->orientation = from->orientation;
    if (across.in != width || down.in != height)
        return resize(resizer, from, &across, &down, to, err);
    memcpy(to->pixels, from->pixels, (size_t)width * (size_t)height * (size_t)from->channels);
    return true;
}
