/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/exif.h"

#include <stdbool.h>
#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, ENTRY_BYTES = 12 };

static uint32_t number(const uint8_t *bytes, int count, bool little)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[little ? count - 1 - i : i];
    return value;
}

int exif_orientation(const uint8_t *tiff, size_t size)
{
    if (size < 8 || (memcmp(tiff, "II*\0", 4) != 0 && memcmp(tiff, "MM\0*", 4) != 0))
        return 1;
    const bool little = tiff[0] == 'I';
    size_t at = number(tiff + 4, 4, little);
    if (at > size - 2)
        return 1;
    uint32_t entries = number(tiff + at, 2, little);
    at += 2;
    for (uint32_t i = 0; i < entries && size - at >= ENTRY_BYTES; i++, at += ENTRY_BYTES) {
        if (number(tiff + at, 2, little) != TAG_ORIENTATION ||
            number(tiff + at + 2, 2, little) != TYPE_SHORT)
            continue;
        uint32_t orientation = number(tiff + at + 8, 2, little);
        return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
    }
    return 1;
}
