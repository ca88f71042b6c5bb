/* SPDX-License-Identifier: MIT */
#include "engine/data/cifar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/data/bytes.h"
#include "engine/data/dataset.h"

/*
 * CIFAR-10, binary version (https://www.cs.toronto.edu/~kriz/cifar.html): records of one label
 * byte and 3072 pixels, channel-major (red, green, blue plane), 32x32, without any header. The
 * official files hold 10,000 records each; smaller ones of the same layout are read as well, but
 * the five training files must be of one size, so that a cut one is noticed.
 */

#define CIFAR_SIDE    32
#define CIFAR_PIXELS  (3 * CIFAR_SIDE * CIFAR_SIDE)
#define CIFAR_RECORD  (1 + CIFAR_PIXELS)
#define CIFAR_MOST    (DATA_MAX_ROWS / 10) /* records of a file */
#define CIFAR_BATCHES 5

static const char *const cifar_files[CIFAR_BATCHES + 1] = {"data_batch_1.bin", "data_batch_2.bin",
                                                           "data_batch_3.bin", "data_batch_4.bin",
                                                           "data_batch_5.bin", "test_batch.bin"};

static int cifar_count(const char *dir)
{
    int count = 0;
    for (int i = 0; i <= CIFAR_BATCHES; i++) {
        struct stat info;
        char *path = path_join(dir, cifar_files[i]);
        count += path && lstat(path, &info) == 0;
        free(path);
    }
    return count;
}

bool cifar_present(const char *dir)
{
    return cifar_count(dir) == CIFAR_BATCHES + 1;
}

bool cifar_any(const char *dir)
{
    return cifar_count(dir) > 0;
}

/* How many records file `index` holds, by its size alone. */
static bool cifar_records(const char *dir, int index, int *records, struct error *err)
{
    struct stat info;
    char *path = path_join(dir, cifar_files[index]);
    if (!path)
        return error_memory(err, dir);
    bool ok = false;
    if (stat(path, &info) != 0)
        error_errno(err, "%s: cannot stat", path);
    else if (!S_ISREG(info.st_mode))
        error_set(err, ERROR_FAILED, "%s: not a regular file", path);
    else if (info.st_size == 0 || info.st_size % CIFAR_RECORD)
        error_set(err, ERROR_FAILED,
                  "%s: %lld bytes, not a whole number of CIFAR-10 records of %d bytes", path,
                  (long long)info.st_size, CIFAR_RECORD);
    else if (info.st_size / CIFAR_RECORD > CIFAR_MOST)
        error_set(err, ERROR_FAILED, "%s: %lld records, more than %d", path,
                  (long long)info.st_size / CIFAR_RECORD, CIFAR_MOST);
    else
        ok = true;
    if (ok)
        *records = (int)(info.st_size / CIFAR_RECORD);
    free(path);
    return ok;
}

static void cifar_shape(struct dataset *set, int rows)
{
    *set = (struct dataset){
        .rows = rows, .channels = 3, .height = CIFAR_SIDE, .width = CIFAR_SIDE, .classes = 10};
}

/* Sizes of all files: rows of the train and the test part. */
static bool cifar_sizes(const char *dir, struct dataset *train, struct dataset *test,
                        struct error *err)
{
    int first = 0, records = 0;
    for (int i = 0; i < CIFAR_BATCHES; i++) {
        if (!cifar_records(dir, i, &records, err))
            return false;
        if (i == 0)
            first = records;
        if (records != first)
            return error_set(err, ERROR_FAILED, "%s/%s: %d record%s, but %s has %d: one is cut off",
                             dir, cifar_files[i], records, plural(records), cifar_files[0], first);
    }
    if (!cifar_records(dir, CIFAR_BATCHES, &records, err))
        return false;
    cifar_shape(train, first * CIFAR_BATCHES);
    cifar_shape(test, records);
    return true;
}

/* Fill `records` rows of `set` from row `first` on. */
static bool cifar_file(const char *path, struct dataset *set, int first, int records,
                       struct error *err)
{
    struct bytes *bytes = NULL;
    uint8_t record[CIFAR_RECORD];
    size_t got = 0;
    bool ok = bytes_open(path, &bytes, err);
    for (int i = 0; ok && i < records; i++) {
        ok = bytes_read(bytes, record, sizeof record, &got, err);
        if (ok && got < sizeof record)
            ok = error_set(err, ERROR_FAILED, "%s: became shorter while it was read", path);
        if (ok && record[0] >= set->classes)
            ok = error_set(err, ERROR_FAILED, "%s: label %d in record %d, but labels are 0 to %d",
                           path, record[0], i, set->classes - 1);
        if (ok) {
            size_t row = (size_t)first + (size_t)i;
            set->labels[row] = record[0];
            memcpy(set->pixels + row * CIFAR_PIXELS, record + 1, CIFAR_PIXELS);
        }
    }
    bytes_close(bytes);
    return ok;
}

bool cifar_describe(const char *dir, struct dataset *shape, int *test_rows, struct error *err)
{
    struct dataset test;
    bool ok = cifar_sizes(dir, shape, &test, err);
    *test_rows = ok ? test.rows : 0;
    return ok;
}

bool cifar_load(const char *dir, struct dataset *train, struct dataset *test, struct error *err)
{
    bool ok = cifar_sizes(dir, train, test, err) && dataset_allocate(train, false, dir, err) &&
              dataset_allocate(test, false, dir, err);
    for (int i = 0; ok && i <= CIFAR_BATCHES; i++) {
        struct dataset *set = i < CIFAR_BATCHES ? train : test;
        int records = i < CIFAR_BATCHES ? train->rows / CIFAR_BATCHES : test->rows;
        char *path = path_join(dir, cifar_files[i]);
        ok = path ? cifar_file(path, set, i < CIFAR_BATCHES ? i * records : 0, records, err)
                  : error_memory(err, dir);
        free(path);
    }
    return ok;
}
