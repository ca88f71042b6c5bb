/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "engine/train/split/micro.h"
#include "engine/train/split/split.h"
#include "tests/suites.h"

static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
}

/* Shards of as many devices, without those that have no rows. */
static void check_like_shards(enum split_rule rule, long rows, int parts)
{
    struct micro_split split;
    long sizes[SPEC_MAX_DEVICES], before = 0;
    ck_assert(split_rows(rule, NULL, rows, parts, sizes, &err));
    ck_assert(micro_split(rule, rows, parts, &split, &err));
    ck_assert_int_ge(split.count, 1);
    for (int i = 0; i < split.count; i++) {
        ck_assert_int_eq(micro_begin(&split, i), before);
        ck_assert_int_eq(micro_rows(&split, i), sizes[i]);
        ck_assert_int_gt(sizes[i], 0);
        before += sizes[i];
    }
    ck_assert_int_eq(before, rows);
    ck_assert_int_eq(micro_begin(&split, split.count), rows);
}

START_TEST(micro_batches_are_the_shards_of_a_rule)
{
    for (long rows = 1; rows <= 70; rows++)
        for (int parts = 1; parts <= 20; parts++) {
            check_like_shards(SPLIT_CHUNK, rows, parts);
            check_like_shards(SPLIT_BALANCED, rows, parts);
            if (rows % parts == 0)
                check_like_shards(SPLIT_EVEN, rows, parts);
        }
}
END_TEST

START_TEST(more_of_them_than_devices_can_be)
{
    struct micro_split split;
    ck_assert(micro_split(SPLIT_BALANCED, 1000, 300, &split, &err));
    ck_assert_int_eq(split.count, 300);
    ck_assert_int_eq(split.first, 100);
    ck_assert_int_eq(micro_rows(&split, 99), 4);
    ck_assert_int_eq(micro_rows(&split, 100), 3);
}
END_TEST

START_TEST(no_rows_are_no_micro_batches)
{
    static const enum split_rule rules[] = {SPLIT_CHUNK, SPLIT_BALANCED, SPLIT_EVEN};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct micro_split split;
        ck_assert(micro_split(rules[i], 0, 4, &split, &err));
        ck_assert_int_eq(split.count, 0);
        ck_assert_int_eq(split.rows[0] + split.rows[1], 0);
    }
}
END_TEST

START_TEST(even_ones_must_fit)
{
    struct micro_split split;
    ck_assert(!micro_split(SPLIT_EVEN, 30, 4, &split, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "30 rows cannot be divided equally into 4"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("micro-batches");
    TCase *tc = tcase_create("micro-batches");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, micro_batches_are_the_shards_of_a_rule);
    tcase_add_test(tc, more_of_them_than_devices_can_be);
    tcase_add_test(tc, no_rows_are_no_micro_batches);
    tcase_add_test(tc, even_ones_must_fit);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
