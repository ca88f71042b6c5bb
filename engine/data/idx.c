/* SPDX-License-Identifier: MIT */
#include "engine/data/idx.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"
#include "engine/data/bytes.h"
#include "engine/data/dataset.h"

/*
 * IDX, the format of MNIST and its relatives (http://yann.lecun.com/exdb/mnist/): a big-endian
 * magic 0x00000803 (bytes in three dimensions: count, rows, columns) or 0x00000801 (bytes in one:
 * count), the dimensions as 32-bit numbers, then the bytes.
 */

#define IDX_MAGIC(dimensions) (0x00000800u | (unsigned)(dimensions))
#define IDX_MAX_SIDE          4096 /* of a picture */

struct idx_part {
    const char *images, *labels;
};

static const struct idx_part train_part = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"};
static const struct idx_part test_part = {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/* One open file, its header read and checked. */
struct idx_file {
    char *path;
    struct bytes *bytes;
    uint32_t dims[3];
};

static void idx_close(struct idx_file *file)
{
    bytes_close(file->bytes);
    free(file->path);
    *file = (struct idx_file){0};
}

/* The file, packed (as fetched and checked) or plain; *path is NULL when neither is there. */
static bool idx_find(const char *dir, const char *name, char **path, struct error *err)
{
    static const char *const endings[] = {".gz", ""};
    struct stat info;
    *path = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *candidate = text_format("%s/%s%s", dir, name, endings[i]);
        if (!candidate)
            return error_memory(err, name);
        /* Only "not there" means absent; a file that cannot be reached is an error when opened. */
        if (lstat(candidate, &info) == 0 || (errno != ENOENT && errno != ENOTDIR)) {
            *path = candidate;
            return true;
        }
        free(candidate);
    }
    return true;
}

static int idx_count(const char *dir)
{
    const char *const names[] = {train_part.images, train_part.labels, test_part.images,
                                 test_part.labels};
    int count = 0;
    for (int i = 0; i < 4; i++) {
        struct error ignored = ERROR_INIT;
        char *path = NULL;
        count += idx_find(dir, names[i], &path, &ignored) && path;
        free(path);
    }
    return count;
}

bool idx_present(const char *dir)
{
    return idx_count(dir) == 4;
}

bool idx_any(const char *dir)
{
    return idx_count(dir) > 0;
}

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool idx_header(struct idx_file *file, int dimensions, struct error *err)
{
    unsigned char header[16];
    size_t length = 4 + 4 * (size_t)dimensions, got;
    if (!bytes_read(file->bytes, header, length, &got, err))
        return false;
    if (got < length)
        return error_set(err, ERROR_FAILED, "%s: %zu byte%s, but an IDX header has %zu", file->path,
                         got, plural(got), length);
    if (big_endian(header) != IDX_MAGIC(dimensions))
        return error_set(err, ERROR_FAILED, "%s: begins with 0x%08x, but IDX %s begin with 0x%08x",
                         file->path, big_endian(header), dimensions == 3 ? "images" : "labels",
                         IDX_MAGIC(dimensions));
    uint64_t values = 1;
    for (int i = 0; i < dimensions; i++) {
        static const char *const names[] = {"rows", "pixels of height", "pixels of width"};
        uint32_t most = i ? IDX_MAX_SIDE : DATA_MAX_ROWS;
        file->dims[i] = big_endian(header + 4 + 4 * i);
        if (file->dims[i] < 1 || file->dims[i] > most)
            return error_set(err, ERROR_FAILED, "%s: the header says %u %s, not 1 to %u",
                             file->path, file->dims[i], names[i], most);
        values *= file->dims[i]; /* at most 10^7 * 4096 * 4096 */
    }
    if (values > (uint64_t)DATA_MAX_VALUES)
        return error_set(err, ERROR_FAILED, "%s: the header promises %llu bytes, more than %lld",
                         file->path, (unsigned long long)values, DATA_MAX_VALUES);
    if (values + length > bytes_bound(file->bytes))
        return error_set(err, ERROR_FAILED,
                         "%s: cut off: the header promises %llu bytes, more than the file can hold",
                         file->path, (unsigned long long)values);
    return true;
}

static bool idx_open(const char *dir, const char *name, int dimensions, struct idx_file *file,
                     struct error *err)
{
    *file = (struct idx_file){0};
    if (!idx_find(dir, name, &file->path, err))
        return false;
    if (!file->path)
        return error_set(err, ERROR_USAGE, "%s: neither %s nor %s.gz is there", dir, name, name);
    if (bytes_open(file->path, &file->bytes, err) && idx_header(file, dimensions, err))
        return true;
    idx_close(file);
    return false;
}

/* What follows the header, exactly `want` bytes. */
static bool idx_body(struct idx_file *file, uint8_t *to, size_t want, struct error *err)
{
    size_t got, more;
    char extra;
    if (!bytes_read(file->bytes, to, want, &got, err))
        return false;
    if (got < want)
        return error_set(err, ERROR_FAILED,
                         "%s: cut off: %zu byte%s after the header, which promises %zu", file->path,
                         got, plural(got), want);
    if (!bytes_read(file->bytes, &extra, 1, &more, err))
        return false;
    if (more)
        return error_set(err, ERROR_FAILED,
                         "%s: trailing bytes after the %zu that the header promises", file->path,
                         want);
    return true;
}

/* Open both files of a part and agree on rows and shape. */
static bool part_open(const char *dir, const struct idx_part *part, struct idx_file *images,
                      struct idx_file *labels, struct dataset *set, struct error *err)
{
    if (!idx_open(dir, part->images, 3, images, err))
        return false;
    if (!idx_open(dir, part->labels, 1, labels, err))
        return false;
    if (images->dims[0] != labels->dims[0])
        return error_set(err, ERROR_FAILED, "%s: %u labels, but %s has %u images", labels->path,
                         labels->dims[0], images->path, images->dims[0]);
    set->rows = (int)images->dims[0];
    set->channels = 1;
    set->height = (int)images->dims[1];
    set->width = (int)images->dims[2];
    return true;
}

static bool part_load(const char *dir, const struct idx_part *part, int classes,
                      struct dataset *set, struct error *err)
{
    struct idx_file images = {0}, labels = {0};
    set->classes = classes;
    bool ok = part_open(dir, part, &images, &labels, set, err) &&
              dataset_allocate(set, false, dir, err) &&
              idx_body(&labels, set->labels, (size_t)set->rows, err) &&
              dataset_check_labels(set, labels.path, err) &&
              idx_body(&images, set->pixels,
                       (size_t)set->rows * (size_t)set->height * (size_t)set->width, err);
    idx_close(&images);
    idx_close(&labels);
    return ok;
}

static bool same_pictures(const char *dir, const struct dataset *train, const struct dataset *test,
                          struct error *err)
{
    if (train->height == test->height && train->width == test->width)
        return true;
    return error_set(err, ERROR_FAILED, "%s: %s has pictures of %dx%d, %s of %dx%d", dir,
                     train_part.images, train->height, train->width, test_part.images, test->height,
                     test->width);
}

static bool part_describe(const char *dir, const struct idx_part *part, struct dataset *set,
                          struct error *err)
{
    struct idx_file images = {0}, labels = {0};
    bool ok = part_open(dir, part, &images, &labels, set, err);
    idx_close(&images);
    idx_close(&labels);
    return ok;
}

bool idx_describe(const char *dir, int classes, struct dataset *shape, int *test_rows,
                  struct error *err)
{
    struct dataset test = {0};
    *shape = (struct dataset){.classes = classes};
    bool ok = part_describe(dir, &train_part, shape, err) &&
              part_describe(dir, &test_part, &test, err) && same_pictures(dir, shape, &test, err);
    *test_rows = test.rows;
    return ok;
}

bool idx_load(const char *dir, int classes, struct dataset *train, struct dataset *test,
              struct error *err)
{
    return part_load(dir, &train_part, classes, train, err) &&
           part_load(dir, &test_part, classes, test, err) && same_pictures(dir, train, test, err);
}
