/* SPDX-License-Identifier: MIT */
#include "tests/engine/data/pictures/write_jpeg.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

int jpeg_channels(enum jpeg_kind kind)
{
    static const int channels[JPEG_KINDS] = {1, 3, 3, 4, 4};
    return channels[kind];
}

uint8_t *write_jpeg(const uint8_t *pixels, int width, int height, enum jpeg_kind kind,
                    int progressive, size_t *size)
{
    static const J_COLOR_SPACE in[] = {JCS_GRAYSCALE, JCS_RGB, JCS_RGB, JCS_CMYK, JCS_CMYK};
    static const J_COLOR_SPACE stored[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK};
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &length);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = jpeg_channels(kind);
    jpeg.in_color_space = in[kind];
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, stored[kind]);
    jpeg_set_quality(&jpeg, 90, TRUE);
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    const size_t row = (size_t)width * (size_t)jpeg_channels(kind);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW line = (JSAMPROW)(uintptr_t)(pixels + jpeg.next_scanline * row);
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *size = length;
    return bytes;
}
