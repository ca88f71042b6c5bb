/* SPDX-License-Identifier: MIT */
/* PNG by libpng: png_codec of codec.h. */
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "engine/data/picture/codec.h"
#include "engine/data/picture/exif.h"

#define CHUNK_MOST_BYTES (8 << 20) /* of what is no pixels: text, profiles */
#define CHUNK_MOST       256       /* such chunks */

/* What a failure inside libpng leaves behind; on the heap of the caller's frame, as longjmp keeps
 * memory but not registers. */
struct reading {
    png_structp png;
    png_infop info;
    const struct coded *from;
    size_t at;
    struct raster *out;
    struct error *err;
    jmp_buf failed;
};

static void fail(png_structp png, png_const_charp text)
{
    struct reading *reading = png_get_error_ptr(png);
    error_set(reading->err, ERROR_FAILED, "broken PNG: %s", text);
    longjmp(reading->failed, 1);
}

/* What libpng can put right is no concern of ours. */
static void ignore(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void give_bytes(png_structp png, png_bytep to, size_t want)
{
    struct reading *reading = png_get_io_ptr(png);
    if (want > reading->from->size - reading->at)
        png_error(png, "the file is cut off");
    memcpy(to, reading->from->bytes + reading->at, want);
    reading->at += want;
}

static bool is_coloured(const struct reading *reading)
{
    png_colorp palette;
    int entries = 0;
    int type = png_get_color_type(reading->png, reading->info);
    if (type != PNG_COLOR_TYPE_PALETTE)
        return type & PNG_COLOR_MASK_COLOR;
    if (!png_get_PLTE(reading->png, reading->info, &palette, &entries))
        return false;
    for (int i = 0; i < entries; i++)
        if (palette[i].red != palette[i].green || palette[i].red != palette[i].blue)
            return true;
    return false;
}

static int orientation_of(const struct reading *reading)
{
#ifdef PNG_eXIf_SUPPORTED
    png_uint_32 size = 0;
    png_bytep exif = NULL;
    if (png_get_eXIf_1(reading->png, reading->info, &size, &exif) && exif)
        return exif_orientation(exif, size);
#endif
    (void)reading;
    return 1;
}

static bool read_head(struct reading *reading)
{
    struct raster *out = reading->out;
    png_set_read_fn(reading->png, reading, give_bytes);
    png_set_user_limits(reading->png, RASTER_MOST_PIXELS, RASTER_MOST_PIXELS);
    png_set_chunk_malloc_max(reading->png, CHUNK_MOST_BYTES);
    png_set_chunk_cache_max(reading->png, CHUNK_MOST);
    png_read_info(reading->png, reading->info);
    png_uint_32 width = png_get_image_width(reading->png, reading->info);
    png_uint_32 height = png_get_image_height(reading->png, reading->info);
    if (!raster_check_size(width, height, reading->err))
        return false;
    out->width = (int)width;
    out->height = (int)height;
    out->coloured = is_coloured(reading);
    out->orientation = orientation_of(reading);
    return true;
}

/* Eight bits a channel; palettes become colours; transparency is left out, so that what is
 * transparent has the colour that is stored for it. */
static bool read_pixels(struct reading *reading)
{
    struct raster *out = reading->out;
    png_set_scale_16(reading->png);
    png_set_expand(reading->png);
    png_set_strip_alpha(reading->png);
    int passes = png_set_interlace_handling(reading->png);
    png_read_update_info(reading->png, reading->info);
    int channels = png_get_channels(reading->png, reading->info);
    size_t row = png_get_rowbytes(reading->png, reading->info);
    if ((channels != 1 && channels != 3) || row != (size_t)out->width * (size_t)channels)
        return error_set(reading->err, ERROR_FAILED, "a PNG of %d channels cannot be read",
                         channels);
    if (!raster_reserve(out, out->width, out->height, channels, reading->err))
        return false;
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < out->height; y++)
            png_read_row(reading->png, out->pixels + (size_t)y * row, NULL);
    png_read_end(reading->png, NULL);
    return true;
}

static bool read_within(struct reading *reading, bool pixels)
{
    if (setjmp(reading->failed))
        return false;
    return read_head(reading) && (!pixels || read_pixels(reading));
}

static bool read_png(const struct coded *from, bool pixels, struct raster *out, struct error *err)
{
    struct reading reading = {.from = from, .out = out, .err = err};
    reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, fail, ignore);
    reading.info = reading.png ? png_create_info_struct(reading.png) : NULL;
    bool ok = reading.info ? read_within(&reading, pixels) : error_memory(err, "PNG");
    png_destroy_read_struct(&reading.png, &reading.info, NULL);
    return ok;
}

static bool png_head(const struct coded *from, struct raster *out, struct error *err)
{
    return read_png(from, false, out, err);
}

/* libpng has no way to decode less than all. */
static bool png_decode(const struct coded *from, int width, int height, struct raster *out,
                       struct error *err)
{
    (void)width;
    (void)height;
    return read_png(from, true, out, err);
}

const struct codec png_codec = {"PNG", "\x89PNG\r\n\x1a\n", 8, png_head, png_decode};
