/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/picture/filter.h"
#include "engine/data/picture/raster.h"

/* Memory of a thread that resizes, kept from picture to picture; zero at first. */
struct resizer {
    struct filter *filters; /* of each output pixel in one direction */
    int16_t *weights;       /* theirs */
    int capacity, taps;     /* filters; inputs of each */
    uint8_t *rows;          /* of the right width, not yet of the right height */
    size_t row_bytes;
};

void resizer_free(struct resizer *resizer);

/*
 * Scale `from` so that it just covers width x height, and cut the middle out: *to. What torchvision
 * does to a PIL picture by Resize(size) and CenterCrop(size), to the bit for square sizes: the
 * triangle filter, as wide as an output pixel where the picture becomes smaller, so that nothing is
 * skipped (antialiasing); across, then down, each rounded to bytes. Where the sizes are the same it
 * is a copy.
 */
bool resize_cover(struct resizer *resizer, const struct raster *from, int width, int height,
                  struct raster *to, struct error *err);
