/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <string.h>

#include "engine/data/statistics.h"
#include "tests/suites.h"

enum { ROWS = 5, CHANNELS = 3, HEIGHT = 5, WIDTH = 3, PIXELS = HEIGHT * WIDTH };

static uint8_t pixels[ROWS * CHANNELS * PIXELS];
static const struct dataset set = {
    .rows = ROWS, .channels = CHANNELS, .height = HEIGHT, .width = WIDTH, .pixels = pixels};

/* The last channel is the same everywhere. */
static void fill(void)
{
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < CHANNELS; c++)
            for (int i = 0; i < PIXELS; i++)
                pixels[(r * CHANNELS + c) * PIXELS + i] =
                    (uint8_t)(c == 2 ? 200 : (31 * r + 17 * c + 7 * i + i * i * (c + 1)) % 251);
}

/* By Python's fractions and 40 decimal digits. */
static const uint32_t some[] = {4, 1, 2};
static const struct {
    const uint32_t *rows;
    long count;
    double mean[CHANNELS], std[CHANNELS];
} cases[] = {
    {NULL,
     5,
     {0.438169934640522876, 0.455215686274509804, 0.784313725490196078},
     {0.261065617279005278, 0.265719008185402908, 0}},
    {NULL,
     3,
     {0.382222222222222222, 0.429891067538126362, 0.784313725490196078},
     {0.260519432369701781, 0.265329582512466941, 0}},
    {some,
     3,
     {0.456819172113289760, 0.460740740740740741, 0.784313725490196078},
     {0.252884420137185633, 0.260514214276057602, 0}},
};

START_TEST(they_are_of_these_rows_and_no_others)
{
    double mean[CHANNELS], std[CHANNELS];
    fill();
    dataset_statistics(&set, cases[_i].rows, cases[_i].count, mean, std);
    for (int c = 0; c < CHANNELS; c++) {
        ck_assert_double_eq_tol(mean[c], cases[_i].mean[c], 1e-15);
        ck_assert_double_eq_tol(std[c], cases[_i].std[c], 1e-15);
    }
    ck_assert(std[2] == 0);
}
END_TEST

START_TEST(the_order_of_rows_changes_no_bit)
{
    static const uint32_t order[] = {2, 4, 1};
    double a[2][CHANNELS], b[2][CHANNELS];
    fill();
    dataset_statistics(&set, some, 3, a[0], a[1]);
    dataset_statistics(&set, order, 3, b[0], b[1]);
    ck_assert_mem_eq(a, b, sizeof a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("statistics");
    TCase *tcase = tcase_create("pixels");
    tcase_add_loop_test(tcase, they_are_of_these_rows_and_no_others, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tcase, the_order_of_rows_changes_no_bit);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
