/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The orientation of a picture, 1 to 8, by its EXIF data (CIPA DC-008, tag 0x0112 of the first
 * directory): the bytes from the TIFF header on. 1 where they do not say, or cannot be read.
 */
int exif_orientation(const uint8_t *tiff, size_t size);
