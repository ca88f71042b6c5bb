/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/data/data.h"
#include "engine/fetch/fetch.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The official Fashion-MNIST files, where DPARTUI_DATA_DIR says that they lie. */

static const struct data_request fashion = {.name = "fashion-mnist"};

START_TEST(the_official_files_are_read)
{
    struct error err = ERROR_INIT;
    struct data data;
    ck_assert_msg(data_open(&fashion, &data, &err), "%s", err.text);
    ck_assert_int_eq(data.train.rows, 60000);
    ck_assert_int_eq(data.test.rows, 10000);
    ck_assert_int_eq(data.train.height, 28);
    ck_assert_int_eq(data.train.width, 28);
    ck_assert_str_eq(data.class_names[data.train.labels[0]], "ankle boot");
    int counts[10] = {0};
    for (int i = 0; i < data.train.rows; i++)
        counts[data.train.labels[i]]++;
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(counts[i], 6000);
    double sum = 0, squares = 0, n = 60000. * 28 * 28;
    for (size_t i = 0; i < (size_t)n; i++) {
        double x = data.train.pixels[i] / 255.;
        sum += x;
        squares += x * x;
    }
    /* The figures that are known for this set. */
    ck_assert_double_le(fabs(sum / n - 0.2860), 0.0001);
    ck_assert_double_le(fabs(sqrt(squares / n - sum / n * sum / n) - 0.3530), 0.0001);
    data_close(&data);
}
END_TEST

/* The sizes and digests that fetching expects are those of the official files. */
START_TEST(the_official_files_are_fetched)
{
    struct error err = ERROR_INIT;
    struct data data;
    ck_assert_msg(data_open(&fashion, &data, &err), "%s", err.text);
    char *packed = format("%s/train-images-idx3-ubyte.gz", data.source);
    char *home = temporary_folder();
    const struct data_request at_home = {.name = "fashion-mnist", .data_dir = home};
    char *from = format("file://%s", data.source);
    if (access(packed, R_OK) == 0) {
        ck_assert_msg(fetch_dataset("fashion-mnist", home, from, NULL, NULL, &err), "%s", err.text);
        data_close(&data);
        ck_assert_msg(data_open(&at_home, &data, &err), "%s", err.text);
        ck_assert_int_eq(data.train.rows, 60000);
    } else {
        printf("not fetched from %s: the files there are unpacked ones\n", data.source);
    }
    data_close(&data);
    free(packed);
    free(from);
    remove_tree(home);
}
END_TEST

int main(void)
{
    struct error err = ERROR_INIT;
    struct dataset shape;
    char *resolved = NULL;
    const char *dir = getenv("DPARTUI_DATA_DIR");
    if (!dir || !*dir) {
        puts("skipped: set DPARTUI_DATA_DIR to a folder with the four Fashion-MNIST files");
        return 77;
    }
    if (!data_describe(&fashion, &shape, NULL, &resolved, &err) && err.kind == ERROR_USAGE) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    free(resolved);
    Suite *suite = suite_create("fashion-mnist");
    TCase *tcase = tcase_create("files");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_official_files_are_read);
    tcase_add_test(tcase, the_official_files_are_fetched);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
