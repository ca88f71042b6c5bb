/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/picture/raster.h"
#include "engine/data/picture/resize.h"

#define PICTURE_MOST_BYTES (256L << 20) /* of a file */

/* What reads picture after picture on one thread: memory that is kept; zero at first. */
struct picture_reader {
    uint8_t *bytes; /* of the file */
    size_t capacity;
    struct raster stored, turned;
    struct resizer resizer;
};

void picture_reader_free(struct picture_reader *reader);

/* A picture as it is seen, turned the right way up. */
struct picture_shape {
    int width, height;
    bool coloured;
};

/* The shape of a PNG or JPEG file, by its content, whatever its name. *err names the file. */
bool picture_look(struct picture_reader *reader, const char *path, struct picture_shape *out,
                  struct error *err);

/*
 * Its pixels, turned, resized by resize_cover, in 1 or 3 channels, as planes of a row of a data
 * set: channels x height x width bytes. Grey is 0.299 red + 0.587 green + 0.114 blue. Of an
 * animation the first picture. *err names the file.
 */
bool picture_read(struct picture_reader *reader, const char *path, int channels, int height,
                  int width, uint8_t *out, struct error *err);
