/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/raster.h"

#include <stdlib.h>
#include <string.h>

#include "engine/data/picture/filter.h"

bool raster_check_size(unsigned long width, unsigned long height, struct error *err)
{
    if (width < 1 || height < 1)
        return error_set(err, ERROR_FAILED, "has no pixels");
    if (width <= RASTER_MOST_PIXELS && height <= RASTER_MOST_PIXELS / width)
        return true;
    return error_set(err, ERROR_FAILED, "%lux%lu pixels, more than %ld in all: scale it down",
                     width, height, RASTER_MOST_PIXELS);
}

bool raster_reserve(struct raster *raster, int width, int height, int channels, struct error *err)
{
    size_t bytes = (size_t)width * (size_t)height * (size_t)channels;
    if (bytes > raster->capacity) {
        free(raster->memory);
        raster->memory = malloc(1 + bytes + FILTER_SLACK);
        raster->capacity = raster->memory ? bytes : 0;
        if (!raster->memory)
            return error_memory(err, "picture");
        /* At an odd address: libjpeg-turbo writes rows at multiples of 16 or 32 past the caches,
         * from which they are read next. */
        raster->pixels = raster->memory + 1;
    }
    raster->width = width;
    raster->height = height;
    raster->channels = channels;
    return true;
}

void raster_free(struct raster *raster)
{
    free(raster->memory);
    *raster = (struct raster){0};
}

bool raster_turn(const struct raster *from, struct raster *to, struct error *err)
{
    /* By orientation: rows and columns change places; then columns, then rows run backwards. */
    static const struct {
        bool transpose, mirror, flip;
    } turns[9] = {
        [2] = {false, true, false}, [3] = {false, true, true}, [4] = {false, false, true},
        [5] = {true, false, false}, [6] = {true, true, false}, [7] = {true, true, true},
        [8] = {true, false, true},
    };
    const bool transpose = turns[from->orientation].transpose;
    const size_t channels = (size_t)from->channels;
    const size_t across = transpose ? (size_t)from->width * channels : channels;
    const size_t down = transpose ? channels : (size_t)from->width * channels;
    if (!raster_reserve(to, transpose ? from->height : from->width,
                        transpose ? from->width : from->height, from->channels, err))
        return false;
    to->coloured = from->coloured;
    to->orientation = 1;
    uint8_t *pixel = to->pixels;
    for (int y = 0; y < to->height; y++) {
        const int row = turns[from->orientation].flip ? to->height - 1 - y : y;
        for (int x = 0; x < to->width; x++, pixel += channels) {
            const int column = turns[from->orientation].mirror ? to->width - 1 - x : x;
            memcpy(pixel, from->pixels + (size_t)row * down + (size_t)column * across, channels);
        }
    }
    return true;
}

static void to_grey(const uint8_t *rgb, size_t pixels, uint8_t *out)
{
    for (size_t i = 0; i < pixels; i++, rgb += 3)
        out[i] = (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 0x8000) >> 16);
}

void raster_split(const uint8_t *pixels, size_t count, int from_channels, int channels,
                  size_t plane, uint8_t *out)
{
    if (from_channels == 1)
        for (int c = 0; c < channels; c++)
            memcpy(out + (size_t)c * plane, pixels, count);
    else if (channels == 3)
        filter_planes(pixels, count, (uint8_t *const[3]){out, out + plane, out + 2 * plane});
    else
        to_grey(pixels, count, out);
}
