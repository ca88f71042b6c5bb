/* SPDX-License-Identifier: MIT */
/* An archive of NumPy's arrays. */
#include "engine/data/dataset.h"
#include "engine/data/npz.h"
#include "tests/fuzz/fuzz.h"

static void check_rows(const struct dataset *set)
{
    FUZZ_CHECK(set->rows > 0 && !set->pixels != !set->numbers && set->labels);
    for (int i = 0; i < set->rows; i++)
        FUZZ_CHECK(set->labels[i] < set->classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct dataset shape, train, test;
    int test_rows;
    char path[4096];
    fuzz_put("data.npz", data, size);
    snprintf(path, sizeof path, "%s/data.npz", fuzz_folder());
    bool described = npz_describe(path, &shape, &test_rows, &err);
    FUZZ_CHECK(described || err.text[0]);
    err = (struct error)ERROR_INIT;
    if (npz_load(path, &train, &test, &err)) {
        FUZZ_CHECK(described && shape.rows == train.rows && test_rows == test.rows);
        check_rows(&train);
        check_rows(&test);
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    dataset_free(&train);
    dataset_free(&test);
    return 0;
}
