/* SPDX-License-Identifier: MIT */
/* Stand-ins for the readers of pictures (engine/data/picture/codec.h): they read none. */
#include "engine/data/picture/codec.h"

static bool refuse(struct error *err)
{
    return error_set(err, ERROR_FAILED, "built without libpng and libjpeg");
}

static bool head(const struct coded *from, struct raster *out, struct error *err)
{
    (void)from;
    (void)out;
    return refuse(err);
}

static bool decode(const struct coded *from, int width, int height, struct raster *out,
                   struct error *err)
{
    (void)from;
    (void)width;
    (void)height;
    (void)out;
    return refuse(err);
}

const struct codec png_codec = {"PNG", "\x89PNG", 4, head, decode};
const struct codec jpeg_codec = {"JPEG", "\xff\xd8\xff", 3, head, decode};
