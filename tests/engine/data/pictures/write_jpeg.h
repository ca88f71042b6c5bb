/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How pixels are stored: grey, as luma and colour differences, as three colours, as four inks
 * (inverted, as Adobe has them), as four inks of which three are luma and colour differences. */
enum jpeg_kind { KIND_GREY, KIND_YCC, KIND_RGB, KIND_CMYK, KIND_YCCK, JPEG_KINDS };

/* Bytes of a pixel. */
int jpeg_channels(enum jpeg_kind kind);

/* Compress rows of pixels; a new buffer that the caller frees. */
uint8_t *write_jpeg(const uint8_t *pixels, int width, int height, enum jpeg_kind kind,
                    int progressive, size_t *size);
