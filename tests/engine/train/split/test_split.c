/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/split/shares.h"
#include "engine/train/split/split.h"
#include "tests/suites.h"

static const double no_weights[SPEC_MAX_DEVICES];

struct row {
    enum split_rule rule;
    double weights[8];
    long rows;
    int devices;
    long sizes[8]; /* the first -1: refused */
};

static const struct row table[] = {
    {SPLIT_CHUNK, {0}, 30, 8, {4, 4, 4, 4, 4, 4, 4, 2}},
    {SPLIT_CHUNK, {0}, 10, 8, {2, 2, 2, 2, 2, 0, 0, 0}},
    {SPLIT_CHUNK, {0}, 5, 8, {1, 1, 1, 1, 1, 0, 0, 0}},
    {SPLIT_CHUNK, {0}, 7, 3, {3, 3, 1}},
    {SPLIT_CHUNK, {0}, 256, 1, {256}},
    {SPLIT_CHUNK, {0}, 0, 3, {0, 0, 0}},
    {SPLIT_CHUNK, {0}, 1, 2, {1, 0}},
    {SPLIT_EVEN, {0}, 30, 8, {-1}},
    {SPLIT_EVEN, {0}, 10, 8, {-1}},
    {SPLIT_EVEN, {0}, 5, 8, {-1}},
    {SPLIT_EVEN, {0}, 32, 8, {4, 4, 4, 4, 4, 4, 4, 4}},
    {SPLIT_EVEN, {0}, 0, 2, {0, 0}},
    {SPLIT_BALANCED, {0}, 30, 8, {4, 4, 4, 4, 4, 4, 3, 3}},
    {SPLIT_BALANCED, {0}, 10, 8, {2, 2, 1, 1, 1, 1, 1, 1}},
    {SPLIT_BALANCED, {0}, 5, 8, {1, 1, 1, 1, 1, 0, 0, 0}},
    {SPLIT_WEIGHTED, {1, 1, 1}, 10, 3, {4, 3, 3}},
    {SPLIT_WEIGHTED, {3, 1}, 100, 2, {75, 25}},
    {SPLIT_WEIGHTED, {0, 1}, 7, 2, {0, 7}},
    {SPLIT_WEIGHTED, {2, 1, 1}, 30, 3, {15, 8, 7}},
    {SPLIT_WEIGHTED, {1, 2, 4, 0}, 10, 4, {1, 3, 6, 0}},
    {SPLIT_WEIGHTED, {1e308, 1e308, 1e308}, 9, 3, {3, 3, 3}},
    {SPLIT_WEIGHTED, {1e-300, 1e300}, 9, 2, {0, 9}},
    {SPLIT_WEIGHTED, {1, 1}, 0, 2, {0, 0}},
    {SPLIT_WEIGHTED, {0, 0}, 10, 2, {-1}},
    {SPLIT_WEIGHTED, {1, -1}, 10, 2, {-1}},
    {SPLIT_WEIGHTED, {1, NAN}, 10, 2, {-1}},
    {SPLIT_WEIGHTED, {INFINITY, 1}, 10, 2, {-1}},
    {SPLIT_AUTO, {0}, 11, 2, {6, 5}},
    {SPLIT_CHUNK, {0}, -1, 2, {-1}},
    {SPLIT_CHUNK, {0}, 10, 0, {-1}},
    {SPLIT_CHUNK, {0}, 10, SPEC_MAX_DEVICES + 1, {-1}},
};

START_TEST(rule_table)
{
    const struct row *row = &table[_i];
    long sizes[SPEC_MAX_DEVICES];
    struct error err = ERROR_INIT;
    bool ok = split_rows(row->rule, row->weights, row->rows, row->devices, sizes, &err);
    ck_assert_int_eq(ok, row->sizes[0] >= 0);
    if (!ok) {
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        ck_assert_str_ne(err.text, "");
        return;
    }
    for (int i = 0; i < row->devices; i++)
        ck_assert_int_eq(sizes[i], row->sizes[i]);
}
END_TEST

START_TEST(even_names_both_numbers)
{
    long sizes[8];
    struct error err = ERROR_INIT;
    ck_assert(!split_rows(SPLIT_EVEN, no_weights, 30, 8, sizes, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "30 rows"));
    ck_assert_ptr_nonnull(strstr(err.text, "8 devices"));
    ck_assert_ptr_nonnull(strstr(err.text, "multiple of 8"));
}
END_TEST

/* Checks of Check write to a pipe each time: inner loops count mistakes instead. */

static bool sums_up(const long *sizes, int devices, long rows)
{
    for (int i = 0; i < devices; i++) {
        if (sizes[i] < 0)
            return false;
        rows -= sizes[i];
    }
    return rows == 0;
}

START_TEST(chunk_properties)
{
    struct error err = ERROR_INIT;
    for (int devices = 1; devices <= 17; devices++)
        for (long rows = 0; rows < 200; rows++) {
            long sizes[17], chunk = (rows + devices - 1) / devices;
            bool ok = split_rows(SPLIT_CHUNK, no_weights, rows, devices, sizes, &err) &&
                      sums_up(sizes, devices, rows) && sizes[0] == chunk;
            /* Only the last device that has rows may have fewer. */
            for (int i = 1; i < devices; i++)
                ok = ok && sizes[i] <= sizes[i - 1] && (sizes[i] == 0 || sizes[i - 1] == chunk);
            ck_assert_msg(ok, "%ld rows over %d", rows, devices);
        }
}
END_TEST

START_TEST(balanced_properties)
{
    struct error err = ERROR_INIT;
    for (int devices = 1; devices <= 17; devices++)
        for (long rows = 0; rows < 200; rows++) {
            long sizes[17];
            bool ok = split_rows(SPLIT_BALANCED, no_weights, rows, devices, sizes, &err) &&
                      sums_up(sizes, devices, rows) && sizes[0] - sizes[devices - 1] <= 1;
            for (int i = 1; i < devices; i++)
                ok = ok && sizes[i] <= sizes[i - 1];
            ck_assert_msg(ok, "%ld rows over %d", rows, devices);
        }
}
END_TEST

START_TEST(weighted_properties)
{
    struct error err = ERROR_INIT;
    unsigned short state[3] = {1, 2, 3};
    for (int trial = 0; trial < 20000; trial++) {
        int devices = 1 + (int)(nrand48(state) % SPEC_MAX_DEVICES);
        long rows = nrand48(state) % (trial % 2 ? 100 : 10000000);
        double weights[SPEC_MAX_DEVICES], sum = 0;
        long sizes[SPEC_MAX_DEVICES];
        for (int i = 0; i < devices; i++) {
            weights[i] = nrand48(state) % 4 ? erand48(state) * pow(10, trial % 7 - 3) : 0;
            sum += weights[i];
        }
        bool ok = split_rows(SPLIT_WEIGHTED, weights, rows, devices, sizes, &err);
        if (sum == 0) {
            ck_assert(!ok);
            continue;
        }
        ok = ok && sums_up(sizes, devices, rows);
        for (int i = 0; ok && i < devices; i++) {
            double quota = (double)rows * weights[i] / sum;
            ok = fabs((double)sizes[i] - quota) < 1 + 1e-6 && (weights[i] > 0 || sizes[i] == 0);
        }
        ck_assert_msg(ok, "trial %d: %ld rows over %d", trial, rows, devices);
    }
}
END_TEST

START_TEST(equal_weights_are_balanced)
{
    struct error err = ERROR_INIT;
    double weights[13];
    for (int i = 0; i < 13; i++)
        weights[i] = 0.1;
    for (long rows = 0; rows < 300; rows++) {
        long weighted[13], balanced[13];
        ck_assert(split_rows(SPLIT_WEIGHTED, weights, rows, 13, weighted, &err));
        ck_assert(split_rows(SPLIT_BALANCED, no_weights, rows, 13, balanced, &err));
        ck_assert_mem_eq(weighted, balanced, sizeof weighted);
    }
}
END_TEST

/* A spec for `devices` CPU devices: 1000 rows, or 10 test rows, in batches of 300. */
static struct spec spec_for(int devices)
{
    struct spec spec = {.batch = 300, .epochs = 2};
    spec.devices = (struct device_list){.choice = DEVICES_LISTED, .count = devices};
    for (int i = 0; i < devices; i++)
        spec.devices.id[i] = (struct device_id){.kind = DEVICE_CPU, .index = i};
    return spec;
}

START_TEST(shares_of_a_run)
{
    struct error err = ERROR_INIT;
    struct spec spec = spec_for(2);
    struct row_shares shares;
    ck_assert(share_rows(&spec, 1000, 1001, &shares, &err));
    const struct row_share *first = &shares.device[0], *second = &shares.device[1];
    ck_assert(shares.rest_occurs);
    ck_assert(first->full == 150 && first->rest == 50);
    ck_assert(first->eval_begin == 0 && first->eval_rows == 501);
    ck_assert(first->eval_full == 150 && first->eval_rest == 51);
    ck_assert(second->eval_begin == 501 && second->eval_rows == 500 && second->eval_rest == 50);
    /* What is not known: no short batch, and evaluation in the largest batches there may be. */
    ck_assert(share_rows(&spec, 0, 0, &shares, &err));
    ck_assert(!shares.rest_occurs && first->rest == 0 && first->eval_full == 150);
    ck_assert(share_rows(&spec, 100, 10, &shares, &err));
    ck_assert(!shares.rest_occurs && first->full == 50 && first->eval_full == 5);
}
END_TEST

START_TEST(short_batches_that_never_come)
{
    struct error err = ERROR_INIT;
    struct spec spec = spec_for(3);
    struct row_shares shares;
    spec.split = SPLIT_EVEN;
    ck_assert(!share_rows(&spec, 1000, 10, &shares, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "the last batch"));
    spec.max_steps = 3;
    ck_assert(share_rows(&spec, 1000, 10, &shares, &err) && !shares.rest_occurs);
    spec.max_steps = 4;
    ck_assert(!share_rows(&spec, 1000, 10, &shares, &err));
    spec.epochs = 0;
    ck_assert(share_rows(&spec, 1000, 10, &shares, &err) && !shares.rest_occurs);
}
END_TEST

START_TEST(weights_count_in_evaluation_too)
{
    struct error err = ERROR_INIT;
    struct spec spec = spec_for(2);
    struct row_shares shares;
    spec.split = SPLIT_WEIGHTED;
    spec.weight_count = 2;
    spec.weights[0] = 1;
    ck_assert(share_rows(&spec, 900, 10, &shares, &err));
    ck_assert(shares.device[0].full == 300 && shares.device[0].eval_rows == 10);
    ck_assert(shares.device[1].full == 0 && shares.device[1].eval_full == 0);
}
END_TEST

START_TEST(cpus_of_devices)
{
    struct spec spec = spec_for(3);
    int threads[SPEC_MAX_DEVICES];
    spec.cpu_threads = 4;
    share_threads(&spec, threads);
    ck_assert(cpus_suffice(threads, 3, 12) && !cpus_suffice(threads, 3, 11));
    ck_assert_int_eq(first_cpu(spec.devices.id, threads, 2), 8);
    spec.devices.id[1].kind = DEVICE_CUDA;
    share_threads(&spec, threads);
    ck_assert(cpus_suffice(threads, 3, 9) && !cpus_suffice(threads, 3, 8));
    ck_assert_int_eq(first_cpu(spec.devices.id, threads, 2), 4);
    /* Of each CPU device its own number. */
    spec.thread_count = 2;
    spec.threads[0] = 2;
    spec.threads[1] = 5;
    share_threads(&spec, threads);
    ck_assert(threads[0] == 2 && threads[1] == 1 && threads[2] == 5);
    ck_assert(cpus_suffice(threads, 3, 8) && !cpus_suffice(threads, 3, 7));
    ck_assert_int_eq(first_cpu(spec.devices.id, threads, 2), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *tcase = tcase_create("split");
    tcase_add_loop_test(tcase, rule_table, 0, sizeof table / sizeof table[0]);
    tcase_add_test(tcase, even_names_both_numbers);
    tcase_add_test(tcase, chunk_properties);
    tcase_add_test(tcase, balanced_properties);
    tcase_add_test(tcase, weighted_properties);
    tcase_add_test(tcase, equal_weights_are_balanced);
    tcase_add_test(tcase, shares_of_a_run);
    tcase_add_test(tcase, short_batches_that_never_come);
    tcase_add_test(tcase, weights_count_in_evaluation_too);
    tcase_add_test(tcase, cpus_of_devices);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
