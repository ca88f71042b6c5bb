/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many rows the filters of a group of pixels go down, before the next pixels are made. */
#define ROWS_AT_A_TIME 128

void resizer_free(struct resizer *resizer)
{
    free(resizer->across.filters);
    free(resizer->across.weights);
    free(resizer->down.filters);
    free(resizer->down.weights);
    free(resizer->rows);
    free(resizer->woven);
    free(resizer->row);
    *resizer = (struct resizer){0};
}

static bool reserve_filters(struct filters *filters, int pixels, int taps, struct error *err)
{
    if (pixels <= filters->capacity && taps <= filters->taps)
        return true;
    free(filters->filters);
    free(filters->weights);
    filters->filters = malloc((size_t)pixels * sizeof *filters->filters);
    filters->weights = malloc((size_t)pixels * 2 * (size_t)taps * sizeof *filters->weights);
    bool ok = filters->filters && filters->weights;
    filters->capacity = ok ? pixels : 0;
    filters->taps = ok ? taps : 0;
    return ok || error_memory(err, "picture");
}

/* The filter of output pixel `i`: a triangle around its middle, the sum of its weights 1. */
static void shape_filter(struct filters *filters, const struct axis *axis, int i, double scale,
                         double support)
{
    const double middle = (axis->begin + i + 0.5) * scale;
    int first = (int)(middle - support + 0.5), end = (int)(middle + support + 0.5);
    int16_t *low = filters->weights + 2 * (size_t)i * (size_t)filters->taps;
    int16_t *high = low + filters->taps;
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
    memset(&low[end - first], 0, 2 * sizeof *low);
    memset(&high[end - first], 0, 2 * sizeof *high);
    filters->filters[i] = (struct filter){first, end - first, low, high};
}

/* Filters that the picture's sides cut off become as long as the others, by weights of 0. */
static void lengthen_filters(struct filters *filters, const struct axis *axis)
{
    int longest = 0;
    for (int i = 0; i < axis->out; i++)
        longest = filters->filters[i].count > longest ? filters->filters[i].count : longest;
    for (int i = 0; i < axis->out; i++) {
        struct filter *filter = &filters->filters[i];
        int16_t *low = filters->weights + 2 * (size_t)i * (size_t)filters->taps;
        const int beyond = filter->first + longest - axis->in, before = beyond > 0 ? beyond : 0;
        if (filter->count >= longest - 1)
            continue;
        for (int half = 0; half < 2; half++, low += filters->taps) {
            memmove(low + before, low, (size_t)filter->count * sizeof *low);
            memset(low, 0, (size_t)before * sizeof *low);
            memset(low + before + filter->count, 0,
                   (size_t)(longest + 2 - before - filter->count) * sizeof *low);
        }
        filter->first -= before;
        filter->count = longest;
    }
}

/* Those of the last picture may be the same. */
static bool shape_filters(struct filters *filters, const struct axis *axis, bool lengthen,
                          struct error *err)
{
    const double scale = (double)axis->in / axis->whole, support = fmax(scale, 1);
    if (memcmp(&filters->axis, axis, sizeof *axis) == 0)
        return true;
    filters->axis = (struct axis){0};
    if (!reserve_filters(filters, axis->out, 2 * (int)ceil(support) + 3, err))
        return false;
    for (int i = 0; i < axis->out; i++)
        shape_filter(filters, axis, i, scale, support);
    if (lengthen)
        lengthen_filters(filters, axis);
    filters->axis = *axis;
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

/* At least `bytes` of memory, and what may be read after them. */
static bool reserve(uint8_t **memory, size_t *had, size_t bytes, struct error *err)
{
    if (bytes <= *had)
        return true;
    uint8_t *larger = malloc(bytes + FILTER_SLACK);
    if (!larger)
        return error_memory(err, "picture");
    free(*memory);
    *memory = larger;
    *had = bytes;
    return true;
}

/* A few rows from `y` on; beyond `end` there are any, for nobody. */
static void strip_across(struct resizer *resizer, const struct raster *from, int outputs, int y,
                         int end, uint8_t *out)
{
    const size_t width = (size_t)from->width, step = width * (size_t)from->channels;
    const int rows = end - y < ROWS_AT_A_TIME ? end - y : ROWS_AT_A_TIME;
    const uint8_t *first = from->pixels + (size_t)y * step;
    if (from->channels == 3) {
        filter_across(resizer->across.filters, outputs, &(struct strip){first, step, rows}, out,
                      (size_t)outputs * 3);
        return;
    }
    struct strip woven = {resizer->woven, FILTER_WOVEN * width, 0};
    for (int done = 0; done < rows; done += FILTER_WOVEN, woven.rows++) {
        const uint8_t *in[FILTER_WOVEN];
        for (int i = 0; i < FILTER_WOVEN; i++)
            in[i] = first + (size_t)(done + i < rows ? done + i : rows - 1) * step;
        filter_weave(in, width, resizer->woven + (size_t)woven.rows * woven.step);
    }
    filter_across_woven(resizer->across.filters, outputs, &woven, out, (size_t)outputs);
}

static bool go_across(struct resizer *resizer, const struct raster *from, const struct axis *across,
                      int first, int end, struct error *err)
{
    const size_t row = (size_t)across->out * (size_t)from->channels;
    if (!reserve(&resizer->rows, &resizer->rows_bytes,
                 row * (size_t)(end - first + FILTER_WOVEN - 1), err) ||
        !reserve(&resizer->woven, &resizer->woven_bytes, (size_t)from->width * ROWS_AT_A_TIME,
                 err) ||
        !shape_filters(&resizer->across, across, true, err))
        return false;
    for (int y = first; y < end; y += ROWS_AT_A_TIME)
        strip_across(resizer, from, across->out, y, end, resizer->rows + (size_t)(y - first) * row);
    return true;
}

static bool resize(struct resizer *resizer, const struct raster *from, const struct axis *across,
                   const struct axis *down, int channels, uint8_t *out, struct error *err)
{
    const size_t width = (size_t)across->out, row = width * (size_t)from->channels;
    int first, end;
    rows_needed(down, &first, &end);
    if (!go_across(resizer, from, across, first, end, err) ||
        !shape_filters(&resizer->down, down, false, err) ||
        !reserve(&resizer->row, &resizer->row_bytes, row, err))
        return false;
    for (int y = 0; y < down->out; y++, out += width) {
        struct filter filter = resizer->down.filters[y];
        filter.first -= first;
        filter_down(&filter, resizer->rows, row, resizer->row);
        raster_split(resizer->row, width, from->channels, channels, width * (size_t)down->out, out);
    }
    return true;
}

/* Where the middle begins; halves go to the even number, as Python rounds. */
static int middle_of(int whole, int out)
{
    return (int)nearbyint((whole - out) / 2.0);
}

bool resize_cover(struct resizer *resizer, const struct raster *from, int width, int height,
                  int channels, uint8_t *out, struct error *err)
{
    const size_t pixels = (size_t)width * (size_t)height;
    struct axis across = {from->width, width, 0, width}, down = {from->height, height, 0, height};
    /* The side that is shorter, measured by what it has to cover, gets its size exactly. */
    if ((int64_t)from->width * height <= (int64_t)from->height * width)
        down.whole = (int)((int64_t)width * from->height / from->width);
    else
        across.whole = (int)((int64_t)height * from->width / from->height);
    across.begin = middle_of(across.whole, width);
    down.begin = middle_of(down.whole, height);
    if (across.in != width || down.in != height)
        return resize(resizer, from, &across, &down, channels, out, err);
    raster_split(from->pixels, pixels, from->channels, channels, pixels, out);
    return true;
}
