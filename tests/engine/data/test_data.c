/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/engine/data/data_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

START_TEST(describe_agrees_with_open)
{
    put_idx(folder, true);
    const char *const names[] = {folder, "glyphs", "random:7x5", NULL};
    for (int i = 0; i < 4; i++) {
        struct dataset shape;
        char *resolved = NULL;
        int test_rows;
        const struct data_request request = {.name = names[i]};
        ck_assert_msg(data_describe(&request, &shape, &test_rows, &resolved, &err), "%s", err.text);
        open_or_fail(names[i], NULL);
        ck_assert_str_eq(resolved, data.name);
        ck_assert_int_eq(shape.rows, data.train.rows);
        ck_assert_int_eq(test_rows, data.test.rows);
        ck_assert_int_eq(shape.channels, data.train.channels);
        ck_assert_int_eq(shape.height, data.train.height);
        ck_assert_int_eq(shape.width, data.train.width);
        ck_assert_int_eq(shape.classes, data.train.classes);
        ck_assert_ptr_null(shape.pixels);
        ck_assert_ptr_null(shape.labels);
        free(resolved);
    }
}
END_TEST

/* As many as are wanted, or all, of bytes and of numbers. */
START_TEST(the_first_rows_are_kept)
{
    put_idx(folder, true);
    const char *const names[] = {folder, "random:20x3"};
    static const struct data_rows wanted[] = {{7, 0}, {0, 3}, {TRAIN + 1, 1}};
    for (int i = 0; i < 6; i++) {
        struct data some;
        const struct data_request request = {
            .name = names[i / 3], .seed = 1, .wanted = wanted[i % 3]};
        open_or_fail(names[i / 3], NULL);
        ck_assert_msg(data_open(&request, &some, &err), "%s", err.text);
        const struct dataset *const parts[] = {&some.train, &some.test};
        const struct dataset *const whole[] = {&data.train, &data.test};
        const long asked[] = {request.wanted.train, request.wanted.test};
        for (int p = 0; p < 2; p++) {
            const size_t row = (size_t)(whole[p]->channels * whole[p]->height * whole[p]->width);
            const int rows =
                asked[p] > 0 && asked[p] < whole[p]->rows ? (int)asked[p] : whole[p]->rows;
            ck_assert_int_eq(parts[p]->rows, rows);
            ck_assert_mem_eq(parts[p]->labels, whole[p]->labels, (size_t)rows);
            if (whole[p]->numbers)
                ck_assert_mem_eq(parts[p]->numbers, whole[p]->numbers,
                                 (size_t)rows * row * sizeof *whole[p]->numbers);
            else
                ck_assert_mem_eq(parts[p]->pixels, whole[p]->pixels, (size_t)rows * row);
        }
        data_close(&some);
    }
}
END_TEST

START_TEST(named_data_are_found)
{
    static const char *const places[] = {"fashion-mnist", "."};
    char *home = format("%s/dpartui/data/fashion-mnist", folder);
    for (int i = 0; i < 2; i++) {
        char *root = format("%s/root%d", folder, i), *dir = format("%s/%s", root, places[i]);
        put_idx(dir, true);
        open_or_fail("fashion-mnist", root);
        ck_assert_str_eq(data.class_names[9], "ankle boot");
        ck_assert_int_eq(strncmp(data.source, root, strlen(root)), 0);
        setenv("DPARTUI_DATA_DIR", root, 1);
        open_or_fail("fashion-mnist", NULL);
        open_or_fail(NULL, NULL);
        ck_assert_str_eq(data.name, "fashion-mnist");
        unsetenv("DPARTUI_DATA_DIR");
        free(root);
        free(dir);
    }
    open_or_fail(NULL, NULL);
    ck_assert_str_eq(data.name, "glyphs");
    put_idx(home, false);
    open_or_fail(NULL, NULL);
    ck_assert_str_eq(data.source, home);
    /* Where the data directory lacks it, the data home is searched. */
    open_or_fail("fashion-mnist", "/nowhere");
    ck_assert_str_eq(data.source, home);
    free(home);
}
END_TEST

START_TEST(missing_data_say_where_and_how)
{
    char *home = format("/nowhere or %s/dpartui/data", folder);
    check_refused("mnist", "/nowhere", home);
    check_refused("mnist", "/nowhere", "dpartui fetch mnist");
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    check_refused("cifar10", NULL, "dpartui fetch cifar10");
    check_refused("fashion", NULL, "no data set 'fashion'");
    check_refused(folder, NULL, "holds neither IDX files");
    check_refused("/dev/null", NULL, "not a folder");
    free(home);
}
END_TEST

START_TEST(a_folder_may_name_its_classes)
{
    uint8_t labels[8 + TRAIN];
    size_t length = idx_bytes(1, labels);
    put_idx(folder, false);
    labels[8 + 3] = 11;
    put_file(folder, idx_names[1], labels, length);
    check_refused(folder, NULL, "label 11 in row 3, but labels are 0 to 9");
    put_file(folder, "classes.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\r\nl m", 26);
    open_or_fail(folder, NULL);
    ck_assert_int_eq(data.train.classes, 12);
    ck_assert_int_eq(data.test.classes, 12);
    ck_assert_str_eq(data.class_names[10], "k");
    ck_assert_str_eq(data.class_names[11], "l m");
}
END_TEST

START_TEST(bad_class_names_are_refused)
{
    char many[2 * 257];
    for (int i = 0; i < 257; i++)
        memcpy(many + 2 * (size_t)i, "a\n", 2);
    put_idx(folder, false);
    put_file(folder, "classes.txt", "one\n", 4);
    check_refused(folder, NULL, "1 class name,");
    put_file(folder, "classes.txt", "one\n\ntwo\n", 9);
    check_refused(folder, NULL, "classes.txt:2: a class name has 1 to 64 bytes, not 0");
    put_file(folder, "classes.txt", "one\ntw\033o\n", 9);
    check_refused(folder, NULL, "classes.txt:2: a control character");
    put_file(folder, "classes.txt", many, sizeof many);
    check_refused(folder, NULL, "more than 256 classes");
    put_file(folder, "classes.txt", NULL, 1 << 20);
    check_refused(folder, NULL, "classes.txt");
}
END_TEST

/* Six CIFAR-10 files of two records each: label and pixels made from file and record. */
enum { RECORD = 3073 };

static void put_cifar(const char *dir, int file, int records, int first_label)
{
    uint8_t bytes[3 * RECORD];
    for (int r = 0; r < records; r++) {
        bytes[r * RECORD] = (uint8_t)(r ? (file + r) % 10 : first_label);
        for (int i = 1; i < RECORD; i++)
            bytes[r * RECORD + i] = (uint8_t)(file * 31 + r * 7 + i);
    }
    char *name = file < 6 ? format("data_batch_%d.bin", file) : format("test_batch.bin");
    put_file(dir, name, bytes, (size_t)records * RECORD);
    free(name);
}

static void put_all_cifar(const char *dir)
{
    for (int file = 1; file <= 6; file++)
        put_cifar(dir, file, 2, file);
}

START_TEST(cifar_files)
{
    static const char *const places[] = {"cifar10/cifar-10-batches-bin", "cifar10",
                                         "cifar-10-batches-bin"};
    char *dir = format("%s/%s", folder, places[_i]);
    put_all_cifar(dir);
    for (int way = 0; way < 2; way++) {
        if (way)
            open_or_fail(_i == 2 ? folder : dir, NULL);
        else
            open_or_fail("cifar10", folder);
        ck_assert_str_eq(data.source, dir);
        ck_assert_int_eq(data.train.rows, 10);
        ck_assert_int_eq(data.test.rows, 2);
        ck_assert_int_eq(data.train.channels, 3);
        ck_assert_int_eq(data.train.height, 32);
        ck_assert_int_eq(data.test.width, 32);
        ck_assert_str_eq(data.class_names[6], "frog");
        for (int row = 0; row < 10; row++) {
            int file = row / 2 + 1, r = row % 2;
            ck_assert_int_eq(data.train.labels[row], file + r);
            for (int i = 1; i < RECORD; i++)
                ck_assert_int_eq(data.train.pixels[row * 3072 + i - 1],
                                 (file * 31 + r * 7 + i) & 255);
        }
        ck_assert_int_eq(data.test.labels[0], 6);
        ck_assert_int_eq(data.test.pixels[0], (6 * 31 + 1) & 255);
    }
    free(dir);
}
END_TEST

START_TEST(bad_cifar_files_are_refused)
{
    put_all_cifar(folder);
    put_cifar(folder, 3, 2, 10);
    check_refused(folder, NULL, "data_batch_3.bin: label 10 in record 0");
    put_cifar(folder, 3, 1, 3);
    check_refused(folder, NULL, "data_batch_3.bin: 1 record, but data_batch_1.bin has 2");
    put_cifar(folder, 3, 2, 3);
    put_file(folder, "test_batch.bin", NULL, RECORD + 1);
    check_refused(folder, NULL, "test_batch.bin: 3074 bytes, not a whole number");
    put_file(folder, "test_batch.bin", NULL, 0);
    check_refused(folder, NULL, "test_batch.bin: 0 bytes, not a whole number");
    put_file(folder, "test_batch.bin", NULL, (size_t)RECORD * 2000000); /* a sparse file */
    check_refused(folder, NULL, "test_batch.bin: 2000000 records, more than");
    char *path = format("%s/test_batch.bin", folder);
    ck_assert_int_eq(unlink(path), 0);
    check_refused(folder, NULL, "test_batch.bin: cannot stat");
    ck_assert_int_eq(mkdir(path, 0777), 0);
    check_refused(folder, NULL, "test_batch.bin: not a regular file");
    free(path);
}
END_TEST

START_TEST(random_vectors_can_be_learned)
{
    open_or_fail("random:2000x6", NULL);
    ck_assert_int_eq(data.train.rows, 2000);
    ck_assert_int_eq(data.test.rows, 2000);
    ck_assert_int_eq(data.train.channels, 6);
    ck_assert_int_eq(data.train.classes, 2);
    ck_assert_ptr_null(data.train.pixels);
    double sum = 0, squares = 0, rule[6] = {0};
    for (int r = 0; r < 2000; r++) {
        for (int i = 0; i < 6; i++) {
            double x = data.train.numbers[6 * r + i];
            sum += x;
            squares += x * x;
            rule[i] += data.train.labels[r] ? x : -x;
        }
    }
    /* 12,000 numbers of N(0,1): five standard errors. */
    ck_assert_double_le(fabs(sum / 12000), 5 / sqrt(12000));
    ck_assert_double_le(fabs(squares / 12000 - 1), 5 * sqrt(2 / 12000.));
    /* The difference of the classes' means is the hidden rule's direction. */
    int right = 0, ones = 0;
    for (int r = 0; r < 2000; r++) {
        double score = 0;
        for (int i = 0; i < 6; i++)
            score += rule[i] * data.test.numbers[6 * r + i];
        right += (score > 0) == data.test.labels[r];
        ones += data.test.labels[r];
    }
    ck_assert_int_ge(right, 1700);
    ck_assert_int_lt(right, 1980); /* the noise is there, too */
    ck_assert_int_ge(ones, 800);
    ck_assert_int_le(ones, 1200);
}
END_TEST

START_TEST(random_vectors_are_bounded)
{
    static const char *const bad[] = {
        "random:",      "random:5",          "random:0x5",
        "random:5x0",   "random:-1x5",       "random:5x-1",
        "random:5x5x5", "random: 5x5",       "random:5x 5",
        "random:1e3x5", "random:20000000x1", "random:1x2000000",
        "random:x",     "random:axb",        "random:+5x5",
        "random:5x5 ",  "random:5X5",        "random:9999999999999999999999x1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused(bad[i], NULL, "random:ROWSxCOLUMNS");
    check_refused("random:10000000x1000000", NULL, "more than 100000000 numbers");
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    open_or_fail("random:1x1", NULL);
    ck_assert_int_eq(data.train.rows, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data");
    TCase *tcase = tcase_create("data");
    tcase_add_checked_fixture(tcase, data_setup, data_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, describe_agrees_with_open);
    tcase_add_test(tcase, the_first_rows_are_kept);
    tcase_add_test(tcase, named_data_are_found);
    tcase_add_test(tcase, missing_data_say_where_and_how);
    tcase_add_test(tcase, a_folder_may_name_its_classes);
    tcase_add_test(tcase, bad_class_names_are_refused);
    tcase_add_loop_test(tcase, cifar_files, 0, 3);
    tcase_add_test(tcase, bad_cifar_files_are_refused);
    tcase_add_test(tcase, random_vectors_can_be_learned);
    tcase_add_test(tcase, random_vectors_are_bounded);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
