/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/picture/raster.h"

/* A file's bytes, borrowed. */
struct coded {
    const uint8_t *bytes;
    size_t size;
};

/*
 * A format of pictures, by a library. Nothing that a file holds prints a line or ends the process:
 * every failure is *err, which does not name the file.
 */
struct codec {
    const char *name;      /* "PNG" */
    const char *signature; /* what its files begin with */
    size_t signature_size;
    /* Size, colour and orientation, as stored, without pixels. */
    bool (*head)(const struct coded *from, struct raster *out, struct error *err);
    /* The whole picture. A codec that can decode to a fraction of the size does, as long as
     * `width` x `height` pixels (of the picture as stored) are left; 0: all of them are wanted. */
    bool (*decode)(const struct coded *from, int width, int height, struct raster *out,
                   struct error *err);
};

extern const struct codec png_codec, jpeg_codec;
