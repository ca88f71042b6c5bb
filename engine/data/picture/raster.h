/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RASTER_MOST_PIXELS (1L << 26) /* 8192 x 8192; files that promise more are refused */

/* A picture in memory: rows of pixels from the top, `channels` bytes each: grey, or red, green and
 * blue. */
struct raster {
    int width, height, channels;
    bool coloured;   /* else it could be stored in one channel */
    int orientation; /* 1 to 8, as in EXIF: how it has to be turned to be seen the right way up */
    uint8_t *pixels;
    uint8_t *memory; /* what is allocated, `pixels` within it; kept from picture to picture */
    size_t capacity; /* bytes that `pixels` has room for */
};

/* Is a picture of this size taken at all? Files come from outside, and a small one can promise much
 * memory. */
bool raster_check_size(unsigned long width, unsigned long height, struct error *err);

/* Memory for width x height pixels of so many channels; what was there is lost. */
bool raster_reserve(struct raster *raster, int width, int height, int channels, struct error *err);
void raster_free(struct raster *raster);

/* Do width and height change places when it is turned? */
static inline bool raster_is_on_its_side(const struct raster *raster)
{
    return raster->orientation >= 5;
}

/* *to is `from` turned the right way up. */
bool raster_turn(const struct raster *from, struct raster *to, struct error *err);

/* Pixels of a raster as planes, 1 or 3 channels `plane` bytes apart, whichever it has. */
void raster_split(const uint8_t *pixels, size_t count, int from_channels, int channels,
                  size_t plane, uint8_t *out);
