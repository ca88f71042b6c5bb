/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/picture/filter.h"
#include "engine/data/picture/raster.h"

/* One direction: `in` pixels become `whole`, of which `out` are wanted from `begin` on. */
struct axis {
    int in, whole, begin, out;
};

/* The filters of each output pixel in one direction. */
struct filters {
    struct filter *filters;
    int16_t *weights;
    int capacity, taps; /* filters; inputs of each */
    struct axis axis;   /* what they are made for; zero: not made */
};

/* Memory of a thread that resizes, kept from picture to picture; zero at first. */
struct resizer {
    struct filters across, down;
    uint8_t *rows;  /* of the right width, not yet of the right height */
    uint8_t *woven; /* four rows of one channel, side by side */
    uint8_t *row;   /* of the right width and height */
    size_t rows_bytes, woven_bytes, row_bytes;
};

void resizer_free(struct resizer *resizer);

/*
 * Scale `from` so that it just covers width x height, and cut the middle out: planes of 1 or 3
 * channels. Grey is 0.299 red + 0.587 green + 0.114 blue. What torchvision
 * does to a PIL picture by Resize(size) and CenterCrop(size), to the bit for square sizes: the
 * triangle filter, as wide as an output pixel where the picture becomes smaller, so that nothing is
 * skipped (antialiasing); across, then down, each rounded to bytes. Where the sizes are the same it
 * is a copy.
 */
bool resize_cover(struct resizer *resizer, const struct raster *from, int width, int height,
                  int channels, uint8_t *out, struct error *err);
