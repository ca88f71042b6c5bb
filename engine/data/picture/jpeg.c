/* SPDX-License-Identifier: MIT */
/* JPEG by libjpeg-turbo: jpeg_codec of codec.h. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
/* After jpeglib.h, which it needs. */
#include <jerror.h>

#include "engine/data/picture/codec.h"
#include "engine/data/picture/exif.h"

#define MOST_SCANS     500 /* a file of many scans of one block each would take hours */
#define ROWS_AT_A_TIME 16

/* On the frame of a caller of the function that calls setjmp, as longjmp keeps memory but not
 * registers. */
struct reading {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    const struct coded *from;
    int width, height; /* wanted; 0: all */
    struct raster *out;
    uint8_t *inks; /* rows of cyan, magenta, yellow and black */
    struct error *err;
    jmp_buf failed;
};

static void fail(j_common_ptr jpeg)
{
    struct reading *reading = jpeg->client_data;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    error_set(reading->err, ERROR_FAILED, "broken JPEG: %s", text);
    longjmp(reading->failed, 1);
}

/* A warning after which pixels are made up is a failure; other remarks are nobody's concern. */
static void take_message(j_common_ptr jpeg, int level)
{
    static const int fatal[] = {JWRN_ARITH_BAD_CODE, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE,
                                JWRN_JPEG_EOF, JWRN_MUST_RESYNC};
    for (size_t i = 0; level < 0 && i < sizeof fatal / sizeof *fatal; i++)
        if (jpeg->err->msg_code == fatal[i])
            fail(jpeg);
}

static void say_nothing(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void count_scans(j_common_ptr jpeg)
{
    struct reading *reading = jpeg->client_data;
    if (reading->jpeg.input_scan_number <= MOST_SCANS)
        return;
    error_set(reading->err, ERROR_FAILED, "a JPEG of more than %d scans", MOST_SCANS);
    longjmp(reading->failed, 1);
}

static int orientation_of(const struct reading *reading)
{
    static const char name[] = "Exif\0"; /* and another NUL */
    for (jpeg_saved_marker_ptr marker = reading->jpeg.marker_list; marker; marker = marker->next)
        if (marker->data_length > sizeof name && memcmp(marker->data, name, sizeof name) == 0)
            return exif_orientation(marker->data + sizeof name, marker->data_length - sizeof name);
    return 1;
}

static bool read_head(struct reading *reading)
{
    struct jpeg_decompress_struct *jpeg = &reading->jpeg;
    struct raster *out = reading->out;
    jpeg_mem_src(jpeg, reading->from->bytes, reading->from->size);
    jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(jpeg, TRUE);
    if (!raster_check_size(jpeg->image_width, jpeg->image_height, reading->err))
        return false;
    out->width = (int)jpeg->image_width;
    out->height = (int)jpeg->image_height;
    out->coloured = jpeg->jpeg_color_space != JCS_GRAYSCALE;
    out->orientation = orientation_of(reading);
    return true;
}

/* The smallest of whole, half, quarter and eighth size that leaves twice what is wanted: the
 * inverse transforms of fewer coefficients are that much cheaper. */
static unsigned eighths(const struct reading *reading)
{
    const struct jpeg_decompress_struct *jpeg = &reading->jpeg;
    unsigned scale = 8;
    while (scale > 1 && reading->width > 0 &&
           (unsigned long)jpeg->image_width * scale / 2 >= 16UL * (unsigned)reading->width &&
           (unsigned long)jpeg->image_height * scale / 2 >= 16UL * (unsigned)reading->height)
        scale /= 2;
    return scale;
}

/* a * b / 255, rounded. */
static uint8_t share(unsigned a, unsigned b)
{
    unsigned product = a * b + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

/* Inks are stored inverted, as Adobe's programs and all that followed them do: 255 is no ink. */
static void print_inks(const uint8_t *inks, int pixels, uint8_t *rgb)
{
    for (int i = 0; i < pixels; i++, inks += 4, rgb += 3)
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)(inks[3] - share(255u - inks[c], inks[3]));
}

static bool choose_colours(struct reading *reading, int *channels)
{
    struct jpeg_decompress_struct *jpeg = &reading->jpeg;
    *channels = 3;
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE:
        *channels = 1;
        jpeg->out_color_space = JCS_GRAYSCALE;
        return true;
    case JCS_RGB:
    case JCS_YCbCr:
        jpeg->out_color_space = JCS_RGB;
        return true;
    case JCS_CMYK:
    case JCS_YCCK:
        jpeg->out_color_space = JCS_CMYK;
        return true;
    default:
        return error_set(reading->err, ERROR_FAILED, "a JPEG of %d channels cannot be read",
                         jpeg->num_components);
    }
}

/* The next `count` rows; the library hands out one or two at a time. */
static void read_some(struct reading *reading, JDIMENSION count)
{
    struct jpeg_decompress_struct *jpeg = &reading->jpeg;
    const size_t row = (size_t)jpeg->output_width * (size_t)jpeg->output_components;
    const size_t pixels = (size_t)jpeg->output_scanline * jpeg->output_width;
    uint8_t *to = reading->out->pixels + pixels * (size_t)reading->out->channels;
    JSAMPROW rows[ROWS_AT_A_TIME];
    for (size_t i = 0; i < count; i++)
        rows[i] = (reading->inks ? reading->inks : to) + i * row;
    for (JDIMENSION done = 0; done < count;)
        done += jpeg_read_scanlines(jpeg, rows + done, count - done);
    if (reading->inks)
        print_inks(reading->inks, (int)(count * jpeg->output_width), to);
}

static void read_rows(struct reading *reading)
{
    struct jpeg_decompress_struct *jpeg = &reading->jpeg;
    while (jpeg->output_scanline < jpeg->output_height) {
        const JDIMENSION left = jpeg->output_height - jpeg->output_scanline;
        read_some(reading, left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME);
    }
}

static bool read_pixels(struct reading *reading)
{
    struct jpeg_decompress_struct *jpeg = &reading->jpeg;
    int channels;
    if (!choose_colours(reading, &channels))
        return false;
    jpeg->scale_num = eighths(reading);
    jpeg->scale_denom = 8;
    reading->progress.progress_monitor = count_scans;
    jpeg->progress = &reading->progress;
    jpeg_start_decompress(jpeg);
    if (jpeg->out_color_space == JCS_CMYK &&
        !(reading->inks = malloc((size_t)jpeg->output_width * 4 * ROWS_AT_A_TIME)))
        return error_memory(reading->err, "JPEG");
    if (!raster_reserve(reading->out, (int)jpeg->output_width, (int)jpeg->output_height, channels,
                        reading->err))
        return false;
    read_rows(reading);
    jpeg_finish_decompress(jpeg);
    return true;
}

static bool read_within(struct reading *reading, bool pixels)
{
    if (setjmp(reading->failed))
        return false;
    jpeg_create_decompress(&reading->jpeg);
    return read_head(reading) && (!pixels || read_pixels(reading));
}

static bool read_jpeg(const struct coded *from, int width, int height, bool pixels,
                      struct raster *out, struct error *err)
{
    struct reading reading = {
        .from = from, .width = width, .height = height, .out = out, .err = err};
    reading.jpeg.err = jpeg_std_error(&reading.errors);
    reading.jpeg.client_data = &reading;
    reading.errors.error_exit = fail;
    reading.errors.emit_message = take_message;
    reading.errors.output_message = say_nothing;
    bool ok = read_within(&reading, pixels);
    jpeg_destroy_decompress(&reading.jpeg);
    free(reading.inks);
    return ok;
}

static bool jpeg_head(const struct coded *from, struct raster *out, struct error *err)
{
    return read_jpeg(from, 0, 0, false, out, err);
}

static bool jpeg_decode(const struct coded *from, int width, int height, struct raster *out,
                        struct error *err)
{
    return read_jpeg(from, width, height, true, out, err);
}

const struct codec jpeg_codec = {"JPEG", "\xff\xd8\xff", 3, jpeg_head, jpeg_decode};
