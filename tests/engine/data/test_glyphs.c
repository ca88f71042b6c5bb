/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/data.h"
#include "tests/suites.h"

enum { ROW = 28 * 28 };

static struct error err;
static struct data one; /* seed 1 */

static void open_glyphs(uint64_t seed, struct data *data)
{
    ck_assert_msg(data_open(&(struct data_request){.name = "glyphs", .seed = seed}, data, &err),
                  "%s", err.text);
}

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    open_glyphs(1, &one);
}

static void teardown(void)
{
    data_close(&one);
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo): enough to see that a byte changed. */
static uint64_t hash(const uint8_t *bytes, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t hash_pixels(const struct dataset *set)
{
    return hash(set->pixels, (size_t)set->rows * ROW);
}

START_TEST(the_same_bytes_on_every_machine)
{
    ck_assert_uint_eq(hash_pixels(&one.train), UINT64_C(0x9a139cea1b3b2810));
    ck_assert_uint_eq(hash_pixels(&one.test), UINT64_C(0x4222b1846c40da40));
    ck_assert_uint_eq(hash(one.train.labels, (size_t)one.train.rows), UINT64_C(0xb28ae06d1a54bf2d));
    ck_assert_uint_eq(hash(one.test.labels, (size_t)one.test.rows), UINT64_C(0x38b9811eff81bf4d));
}
END_TEST

START_TEST(the_shape_is_as_described)
{
    const struct dataset *const parts[] = {&one.train, &one.test};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(parts[i]->channels, 1);
        ck_assert_int_eq(parts[i]->height, 28);
        ck_assert_int_eq(parts[i]->width, 28);
        ck_assert_int_eq(parts[i]->classes, 10);
        ck_assert_ptr_null(parts[i]->numbers);
    }
    ck_assert_int_eq(one.train.rows, 15000);
    ck_assert_int_eq(one.test.rows, 2500);
    ck_assert_str_eq(one.source, "made from seed 1");
    ck_assert_str_eq(one.class_names[0], "A");
    ck_assert_str_eq(one.class_names[9], "Z");
}
END_TEST

/* Any part of the rows that is a multiple of ten is balanced, so --train-rows keeps it so. */
START_TEST(classes_are_balanced)
{
    const struct dataset *const parts[] = {&one.train, &one.test};
    for (int p = 0; p < 2; p++) {
        for (int first = 0; first < parts[p]->rows; first += 10) {
            unsigned seen = 0;
            for (int i = 0; i < 10; i++)
                seen |= 1u << parts[p]->labels[first + i];
            ck_assert_uint_eq(seen, 0x3ff);
        }
    }
}
END_TEST

/* Those that a run asks for are all that is made of them, and the same as among all. */
START_TEST(the_first_rows_are_those_of_the_whole)
{
    static const struct data_rows wanted[] = {{1, 9}, {450, 0}, {0, 23}, {15001, 2501}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const long train = wanted[i].train, test = wanted[i].test;
        const struct data_request request = {.name = "glyphs", .seed = 1, .wanted = wanted[i]};
        struct data some;
        ck_assert_msg(data_open(&request, &some, &err), "%s", err.text);
        ck_assert_int_eq(some.train.rows, train > 0 && train < 15000 ? train : 15000);
        ck_assert_int_eq(some.test.rows, test > 0 && test < 2500 ? test : 2500);
        const struct dataset *const parts[] = {&some.train, &some.test}, *const whole[] = {
                                                                             &one.train, &one.test};
        for (int p = 0; p < 2; p++) {
            const size_t rows = (size_t)parts[p]->rows;
            ck_assert_int_eq(memcmp(parts[p]->pixels, whole[p]->pixels, rows * ROW), 0);
            ck_assert_int_eq(memcmp(parts[p]->labels, whole[p]->labels, rows), 0);
        }
        data_close(&some);
    }
}
END_TEST

START_TEST(seeds_differ)
{
    struct data two;
    open_glyphs(UINT64_C(1) << 32 | 1, &two); /* the high half counts as well */
    ck_assert_uint_ne(hash_pixels(&one.train), hash_pixels(&two.train));
    ck_assert_uint_ne(hash_pixels(&one.test), hash_pixels(&two.test));
    data_close(&two);
}
END_TEST

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

START_TEST(no_picture_is_there_twice)
{
    int rows = one.train.rows + one.test.rows;
    uint64_t *hashes = malloc((size_t)rows * sizeof *hashes);
    ck_assert_ptr_nonnull(hashes);
    for (int i = 0; i < rows; i++)
        hashes[i] = i < one.train.rows
                        ? hash(one.train.pixels + (size_t)i * ROW, ROW)
                        : hash(one.test.pixels + (size_t)(i - one.train.rows) * ROW, ROW);
    qsort(hashes, (size_t)rows, sizeof *hashes, compare);
    for (int i = 1; i < rows; i++)
        ck_assert_uint_ne(hashes[i], hashes[i - 1]);
    free(hashes);
}
END_TEST

/*
 * There is something to learn, but it is not easy: the nearest class mean of the training rows
 * beats chance by far on the test rows, and is wrong in many of them.
 */
START_TEST(classes_can_be_told_apart)
{
    static double mean[10][ROW];
    int right = 0;
    for (int r = 0; r < one.train.rows; r++)
        for (int i = 0; i < ROW; i++)
            mean[one.train.labels[r]][i] += one.train.pixels[r * ROW + i] * 10. / one.train.rows;
    for (int r = 0; r < one.test.rows; r++) {
        double best = 0;
        int choice = -1;
        for (int c = 0; c < 10; c++) {
            /* Covariance with the class mean, which does not mind brightness. */
            double score = 0, pixels = 0, means = 0, squares = 0;
            for (int i = 0; i < ROW; i++) {
                double x = one.test.pixels[r * ROW + i];
                score += x * mean[c][i];
                pixels += x;
                means += mean[c][i];
                squares += mean[c][i] * mean[c][i];
            }
            double spread = squares - means * means / ROW;
            score = (score - pixels * means / ROW) / (spread > 0 ? spread : 1);
            if (choice < 0 || score > best) {
                best = score;
                choice = c;
            }
        }
        right += choice == one.test.labels[r];
    }
    ck_assert_int_gt(right, one.test.rows * 3 / 10);
    ck_assert_int_lt(right, one.test.rows * 8 / 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("glyphs");
    TCase *tcase = tcase_create("glyphs");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_same_bytes_on_every_machine);
    tcase_add_test(tcase, the_shape_is_as_described);
    tcase_add_test(tcase, classes_are_balanced);
    tcase_add_test(tcase, the_first_rows_are_those_of_the_whole);
    tcase_add_test(tcase, seeds_differ);
    tcase_add_test(tcase, no_picture_is_there_twice);
    tcase_add_test(tcase, classes_can_be_told_apart);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
