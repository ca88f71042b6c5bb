/* SPDX-License-Identifier: MIT */
#include "engine/data/npz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/dataset.h"
#include "engine/data/npy.h"

/* Where number [n][c][y][x] of pictures is among those stored. */
struct layout {
    size_t n, c, y, x;
};

/* How far apart the numbers of neighbouring indices are. */
static void distances(const struct npy *npy, size_t *apart)
{
    size_t step = 1;
    for (int i = 0; i < npy->ndim; i++) {
        int dim = npy->fortran ? i : npy->ndim - 1 - i;
        apart[dim] = step;
        step *= (size_t)npy->dims[dim];
    }
}

static bool is_channels(long side)
{
    return side == 1 || side == 3;
}

/* What the dimensions mean: shape of the rows, and where their numbers are. */
static bool read_layout(const struct npy *npy, struct dataset *set, struct layout *out,
                        struct error *err)
{
    size_t apart[NPY_MOST_DIMS] = {0};
    const long *dims = npy->dims;
    const bool last = npy->ndim == 4 && is_channels(dims[3]);
    const int y = npy->ndim == 4 && !last ? 2 : 1, c = last ? 3 : 1;
    distances(npy, apart);
    if (npy->ndim < 2 || (npy->ndim == 4 && !last && !is_channels(dims[1])))
        return npy_error(npy, err,
                         "its shape is none of rows x height x width, with 1 or 3 channels as "
                         "fourth or second dimension, and rows x numbers");
    if (dims[0] > DATA_MAX_ROWS)
        return npy_error(npy, err, "has too many rows");
    const bool pictures = npy->ndim > 2;
    set->is_numeric = npy->kind == 'f';
    set->rows = (int)dims[0];
    set->channels = npy->ndim == 3 ? 1 : (int)dims[c];
    set->height = pictures ? (int)dims[y] : 1;
    set->width = pictures ? (int)dims[y + 1] : 1;
    *out = (struct layout){apart[0], npy->ndim == 3 ? 0 : apart[c], pictures ? apart[y] : 0,
                           pictures ? apart[y + 1] : 0};
    return true;
}

/* A number of 2 bytes as IEEE 754 has it. */
static float half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)fraction, -24)
                                 : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits >> 15 ? -size : size;
}

static float number_at(const uint8_t *from, int bytes)
{
    union {
        uint16_t half;
        float single;
        double twice;
    } value;
    memcpy(&value, from, (size_t)bytes);
    return bytes == 2 ? half(value.half) : bytes == 4 ? value.single : (float)value.twice;
}

/* From the order of the file to that of rows. False: one is no number. */
static bool arrange(const struct npy *npy, const struct layout *layout, const uint8_t *from,
                    struct dataset *set)
{
    const size_t bytes = (size_t)npy->bytes;
    size_t to = 0;
    for (size_t n = 0; n < (size_t)set->rows; n++)
        for (size_t c = 0; c < (size_t)set->channels; c++)
            for (size_t y = 0; y < (size_t)set->height; y++) {
                const uint8_t *line =
                    from + bytes * (n * layout->n + c * layout->c + y * layout->y);
                for (size_t x = 0; x < (size_t)set->width; x++, to++) {
                    const uint8_t *number = line + bytes * x * layout->x;
                    if (set->pixels)
                        set->pixels[to] = *number;
                    else if (!isfinite(set->numbers[to] = number_at(number, npy->bytes)))
                        return false;
                }
            }
    return true;
}

static bool read_rows(struct npy *npy, const struct layout *layout, struct dataset *set,
                      struct error *err)
{
    const bool numbers = npy->kind == 'f';
    if (!numbers && (npy->kind != 'u' || npy->bytes != 1))
        return npy_error(npy, err,
                         "holds neither bytes nor floating point numbers: convert it, as in "
                         "x.astype('uint8')");
    uint8_t *stored = malloc(npy->count * (size_t)npy->bytes);
    bool ok = stored || error_memory(err, npy->path);
    ok = ok && npy_read(npy, stored, err) && dataset_allocate(set, numbers, npy->path, err) &&
         (arrange(npy, layout, stored, set) ||
          npy_error(npy, err, "holds a number that is not finite"));
    free(stored);
    return ok;
}

static int64_t label_at(const uint8_t *from, const struct npy *npy)
{
    uint64_t value = 0;
    const int bits = 8 * npy->bytes;
    for (int i = 0; i < npy->bytes; i++) {
        uint64_t byte = from[i];
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        value = value << 8 | byte;
#else
        value |= byte << 8 * i;
#endif
    }
    if (npy->kind == 'i' && bits < 64 && value >> (bits - 1))
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

/* Labels of `rows` rows into new memory; *classes becomes larger than the largest. */
static bool read_labels(const struct zip *zip, const char *name, int rows, uint8_t **out,
                        int *classes, struct error *err)
{
    struct npy npy;
    uint8_t *stored = NULL;
    *out = NULL;
    bool ok = npy_open(zip, name, &npy, err);
    if (ok && (npy.ndim > 2 || (npy.ndim == 2 && npy.dims[1] != 1) || npy.kind == 'f'))
        ok = npy_error(&npy, err, "is not one whole number for each row: use argmax for others");
    if (ok && npy.dims[0] != rows)
        ok = npy_error(&npy, err, "has another number of rows than the pictures");
    if (ok && (!(stored = malloc(npy.count * (size_t)npy.bytes)) || !(*out = malloc(npy.count))))
        ok = error_memory(err, name);
    ok = ok && npy_read(&npy, stored, err);
    for (int i = 0; ok && i < rows; i++) {
        int64_t label = label_at(stored + (size_t)i * (size_t)npy.bytes, &npy);
        if (label < 0 || label >= DATA_MAX_CLASSES)
            ok =
                error_set(err, ERROR_FAILED, "%s: %s: label %lld in row %d, but labels are 0 to %d",
                          zip->path, npy.name, (long long)label, i, DATA_MAX_CLASSES - 1);
        else
            (*out)[i] = (uint8_t)label;
        if (ok && label >= *classes)
            *classes = (int)label + 1;
    }
    free(stored);
    npy_close(&npy);
    return ok;
}

/* One part: its shape, and its rows if `whole`. */
static bool read_part(const struct zip *zip, const char *x, const char *y, bool whole,
                      struct dataset *set, int *classes, struct error *err)
{
    struct npy npy;
    struct layout layout = {0, 0, 0, 0};
    uint8_t *labels = NULL;
    bool ok = npy_open(zip, x, &npy, err) && read_layout(&npy, set, &layout, err) &&
              read_labels(zip, y, set->rows, &labels, classes, err) &&
              (!whole || read_rows(&npy, &layout, set, err));
    if (ok && whole)
        memcpy(set->labels, labels, (size_t)set->rows);
    free(labels);
    npy_close(&npy);
    return ok;
}

static bool read_parts(const char *path, bool whole, struct dataset *train, struct dataset *test,
                       struct error *err)
{
    struct zip zip;
    int classes = 2;
    *train = *test = (struct dataset){0};
    bool ok = zip_open(path, &zip, err) &&
              read_part(&zip, "x_train", "y_train", whole, train, &classes, err) &&
              read_part(&zip, "x_test", "y_test", whole, test, &classes, err);
    zip_close(&zip);
    if (ok && (train->channels != test->channels || train->height != test->height ||
               train->width != test->width || !train->pixels != !test->pixels))
        ok = error_set(err, ERROR_FAILED, "%s: x_train has rows of %dx%dx%d, x_test of %dx%dx%d%s",
                       path, train->channels, train->height, train->width, test->channels,
                       test->height, test->width,
                       !train->pixels != !test->pixels ? ", and another type" : "");
    train->classes = test->classes = classes;
    return ok;
}

bool npz_describe(const char *path, struct dataset *shape, int *test_rows, struct error *err)
{
    struct dataset test;
    bool ok = read_parts(path, false, shape, &test, err);
    *test_rows = ok ? test.rows : 0;
    return ok;
}

bool npz_load(const char *path, struct dataset *train, struct dataset *test, struct error *err)
{
    return read_parts(path, true, train, test, err);
}
