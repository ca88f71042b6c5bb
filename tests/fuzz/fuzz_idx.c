/* SPDX-License-Identifier: MIT */
/*
 * The four IDX files of a folder and its classes.txt. The first byte says which of them is the rest
 * of the input; the others are good.
 */
#include "engine/data/idx.h"
#include "tests/fuzz/fuzz.h"

struct part {
    const char *name, *bytes;
    size_t size;
};

#define PART(name, bytes)                                                                          \
    {                                                                                              \
        name, bytes, sizeof(bytes) - 1                                                             \
    }

/* Two pictures of 2 x 3 and their labels. */
#define IMAGES "\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\3abcdefghijkl"
#define LABELS "\0\0\x08\x01\0\0\0\2\0\1"

static const struct part parts[] = {
    PART("train-images-idx3-ubyte", IMAGES), PART("train-labels-idx1-ubyte", LABELS),
    PART("t10k-images-idx3-ubyte", IMAGES),  PART("t10k-labels-idx1-ubyte", LABELS),
    PART("classes.txt", "coat\nshoe\n"),
};

enum { PARTS = sizeof parts / sizeof *parts };

static void check_labels(const struct dataset *set)
{
    FUZZ_CHECK(set->rows > 0 && set->pixels && set->labels);
    for (int i = 0; i < set->rows; i++)
        FUZZ_CHECK(set->labels[i] < set->classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct dataset shape;
    struct data all;
    if (!size)
        return 0;
    for (size_t i = 0; i < PARTS; i++) {
        if (i == data[0] % PARTS)
            fuzz_put(parts[i].name, data + 1, size - 1);
        else
            fuzz_put(parts[i].name, parts[i].bytes, parts[i].size);
    }
    const struct data_request request = {.name = fuzz_folder()};
    char *resolved = NULL;
    int test_rows;
    bool described = data_describe(&request, &shape, &test_rows, &resolved, &err);
    free(resolved);
    FUZZ_CHECK(described || err.text[0]);
    err = (struct error)ERROR_INIT;
    if (data_open(&request, &all, &err)) {
        FUZZ_CHECK(described && shape.rows == all.train.rows && test_rows == all.test.rows);
        check_labels(&all.train);
        check_labels(&all.test);
        data_close(&all);
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    return 0;
}
