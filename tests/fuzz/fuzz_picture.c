/* SPDX-License-Identifier: MIT */
/*
 * A picture, PNG or JPEG by its content. The first byte says how many channels and which size are
 * wanted; the rest is the file.
 */
#include "engine/data/picture/picture.h"
#include "tests/fuzz/fuzz.h"

/* A decompressor may take seconds for what is within the limits. */
enum { MOST_PIXELS = 1 << 20, SIDE = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct picture_reader reader = {0};
    struct picture_shape shape;
    struct error err = ERROR_INIT;
    uint8_t row[3 * SIDE * SIDE];
    if (!size)
        return 0;
    const int channels = data[0] & 1 ? 3 : 1, height = 1 + data[0] % SIDE,
              width = SIDE - height + 1;
    fuzz_put("picture", data + 1, size - 1);
    char path[4096];
    snprintf(path, sizeof path, "%s/picture", fuzz_folder());
    bool looked = picture_look(&reader, path, &shape, &err);
    FUZZ_CHECK(looked || err.text[0]);
    FUZZ_CHECK(!looked || (shape.width > 0 && shape.height > 0));
    if (looked && (int64_t)shape.width * shape.height <= MOST_PIXELS) {
        err = (struct error)ERROR_INIT;
        bool read = picture_read(&reader, path, channels, height, width, row, &err);
        FUZZ_CHECK(read || err.text[0]);
    }
    picture_reader_free(&reader);
    return 0;
}
