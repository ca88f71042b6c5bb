/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/picture/filter_vectors.h"
#include "tests/suites.h"

/* The inner loops of resizing against plain sums, on whichever vectors this processor has, and on
 * those of 32 bytes where it has wider ones, too. */

enum { MOST_TAPS = 40, INPUTS = 60, OUTPUTS = 50 };

static uint8_t rows[MOST_TAPS][3 * INPUTS + FILTER_SLACK];
static int16_t low[OUTPUTS][MOST_TAPS + 2], high[OUTPUTS][MOST_TAPS + 2];
static int32_t weights[OUTPUTS][MOST_TAPS];
static struct filter filters[OUTPUTS];

/* Random weights whose sum is 2^22, of `taps` inputs; the first and last outputs are at the ends.
 */
static void make(int taps)
{
    for (int r = 0; r < MOST_TAPS; r++)
        for (size_t i = 0; i < sizeof rows[r]; i++)
            rows[r][i] = (uint8_t)(rand() % 5 == 0 ? 255 : rand() & 255);
    memset(low, 0, sizeof low);
    memset(high, 0, sizeof high);
    for (int o = 0; o < OUTPUTS; o++) {
        int32_t left = 1 << FILTER_BITS;
        for (int k = 0; k < taps; k++) {
            weights[o][k] = k == taps - 1 ? left : (int32_t)(rand() % (left / 2 + 1));
            left -= weights[o][k];
            filter_split(weights[o][k], &low[o][k], &high[o][k]);
        }
        filters[o] = (struct filter){o * (INPUTS - taps) / (OUTPUTS - 1), taps, low[o], high[o]};
    }
}

static int weighed(int output, const uint8_t *from, size_t step)
{
    int64_t sum = 1 << (FILTER_BITS - 1);
    for (int k = 0; k < filters[output].count; k++)
        sum += (int64_t)weights[output][k] * from[(size_t)k * step];
    return (int)(sum >> FILTER_BITS > 255 ? 255 : sum >> FILTER_BITS);
}

/* filter_across and filter_across_woven, by vectors of 32 bytes if `narrow`; false if those cannot
 * do it. */
static bool go_across(bool narrow, int outputs, int bytes, const struct strip *from, uint8_t *out,
                      size_t step)
{
    if (!narrow && bytes == 3)
        filter_across(filters, outputs, from, out, step);
    else if (!narrow)
        filter_across_woven(filters, outputs, from, out, step);
#ifdef FILTER_VECTORS
    else
        return __builtin_cpu_supports("avx2") &&
               filter_avx2_across(filters, outputs, bytes, from, out, step);
#endif
    return !narrow;
}

START_TEST(across)
{
    enum { ROWS = 5, STEP = 3 * OUTPUTS + 7 };
    uint8_t made[ROWS * STEP];
    const struct strip from = {rows[0], sizeof rows[0], ROWS};
    make(_i);
    for (int turn = 0; turn < 2 * OUTPUTS; turn++) {
        const int outputs = 1 + turn / 2;
        memset(made, 77, sizeof made);
        if (!go_across(turn % 2, outputs, 3, &from, made, STEP))
            continue;
        for (int i = 0; i < ROWS * STEP; i++) {
            const int at = i % STEP, o = at / 3, row = i / STEP;
            ck_assert_int_eq(made[i], at < 3 * outputs
                                          ? weighed(o, rows[row] + 3 * filters[o].first + at % 3, 3)
                                          : 77);
        }
    }
}
END_TEST

START_TEST(across_woven)
{
    enum { ROWS = 8, STEP = OUTPUTS + 5 };
    uint8_t made[ROWS * STEP], woven[ROWS * INPUTS + FILTER_SLACK];
    const struct strip from = {woven, FILTER_WOVEN * INPUTS, ROWS / FILTER_WOVEN};
    make(_i);
    for (int r = 0; r < ROWS; r += FILTER_WOVEN)
        filter_weave((const uint8_t *const[]){rows[r], rows[r + 1], rows[r + 2], rows[r + 3]},
                     INPUTS, woven + r * INPUTS);
    for (int turn = 0; turn < 2 * OUTPUTS; turn++) {
        const int outputs = 1 + turn / 2;
        memset(made, 77, sizeof made);
        if (!go_across(turn % 2, outputs, FILTER_WOVEN, &from, made, STEP))
            continue;
        for (int i = 0; i < ROWS * STEP; i++) {
            const int o = i % STEP;
            ck_assert_int_eq(made[i],
                             o < outputs ? weighed(o, rows[i / STEP] + filters[o].first, 1) : 77);
        }
    }
}
END_TEST

/* Rows of every length: whole vectors of each size, and what is left over. */
START_TEST(down)
{
    uint8_t packed[MOST_TAPS * 3 * INPUTS + FILTER_SLACK], made[3 * INPUTS + 1];
    make(_i);
    for (size_t bytes = 1; bytes <= 3 * INPUTS; bytes += bytes < 70 ? 1 : 7) {
        for (size_t r = 0; r < MOST_TAPS; r++)
            memcpy(packed + r * bytes, rows[r], bytes);
        struct filter filter = filters[0];
        filter.first = MOST_TAPS - _i;
        memset(made, 77, sizeof made);
        filter_down(&filter, packed, bytes, made);
        for (size_t i = 0; i < bytes; i++)
            ck_assert_int_eq(made[i], weighed(0, packed + (size_t)filter.first * bytes + i, bytes));
        ck_assert_int_eq(made[bytes], 77);
    }
}
END_TEST

START_TEST(planes)
{
    uint8_t made[3][INPUTS + 1];
    uint8_t *const out[3] = {made[0], made[1], made[2]};
    make(1);
    for (size_t pixels = 1; pixels <= INPUTS; pixels++) {
        memset(made, 77, sizeof made);
        filter_planes(rows[0], pixels, out);
        for (size_t c = 0; c < 3; c++) {
            for (size_t i = 0; i < pixels; i++)
                ck_assert_int_eq(made[c][i], rows[0][3 * i + c]);
            ck_assert_int_eq(made[c][pixels], 77);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *tcase = tcase_create("loops");
    tcase_add_loop_test(tcase, across, 1, MOST_TAPS + 1);
    tcase_add_loop_test(tcase, across_woven, 1, MOST_TAPS + 1);
    tcase_add_loop_test(tcase, down, 1, MOST_TAPS + 1);
    tcase_add_test(tcase, planes);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
