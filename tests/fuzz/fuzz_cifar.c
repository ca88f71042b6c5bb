/* SPDX-License-Identifier: MIT */
/*
 * The six CIFAR-10 files of a folder. The first byte says which of them is the rest of the input;
 * the others hold one record.
 */
#include "engine/data/cifar.h"
#include "engine/data/dataset.h"
#include "tests/fuzz/fuzz.h"

static const char *const names[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                    "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

enum { NAMES = sizeof names / sizeof *names, RECORD = 3073 };

static void check_labels(const struct dataset *set)
{
    for (int i = 0; i < set->rows; i++)
        FUZZ_CHECK(set->labels[i] < set->classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t record[RECORD] = {3};
    struct error err = ERROR_INIT;
    struct dataset shape, train = {0}, test = {0};
    if (!size)
        return 0;
    for (size_t i = 0; i < NAMES; i++) {
        if (i == data[0] % NAMES)
            fuzz_put(names[i], data + 1, size - 1);
        else
            fuzz_put(names[i], record, sizeof record);
    }
    int test_rows;
    bool described = cifar_describe(fuzz_folder(), &shape, &test_rows, &err);
    if (cifar_load(fuzz_folder(), &train, &test, &err)) {
        FUZZ_CHECK(described && train.rows == shape.rows && test.rows == test_rows);
        check_labels(&train);
        check_labels(&test);
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    dataset_free(&train);
    dataset_free(&test);
    return 0;
}
