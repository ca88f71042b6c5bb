/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "engine/train/step/ranks.h"
#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* Runs with `split auto`: what becomes of the shares. The devices are those of fake_backend.c. */

#define AUTO "model=linear data=random:100x5 seed=3 split=auto "

static long share(const json_t *event, int device)
{
    return (long)json_integer_value(
        json_array_get(json_object_get(event, "shares"), (size_t)device));
}

/* A run to its end on devices that need these seconds for a row. */
static void run_unequal(double first, double second, double third, const char *settings,
                        void (*on_event)(struct recorder *recorder, const char *kind,
                                         json_t *event))
{
    fake.row_s[0] = first;
    fake.row_s[1] = second;
    fake.row_s[2] = third;
    recorder_init(&rec, settings);
    rec.limits.clock = fake_clock;
    rec.on_event = on_event;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
}

START_TEST(shares_follow_speed)
{
    run_unequal(1, 4, 2, AUTO "batch=30 epochs=8 devices=cpu:0-2", NULL);
    ck_assert_int_eq(recorder_count(&rec, "shares"), 1);
    const json_t *event = recorder_event(&rec, "shares", -1);
    /* 30 rows in proportion to 1, 1/4 and 1/2: 17.1, 4.3 and 8.6. */
    ck_assert(share(event, 0) == 17 && share(event, 1) == 4 && share(event, 2) == 9);
    ck_assert(recorder_number(event, "step") == 13); /* of which three were short batches */
    ck_assert(recorder_number(event, "seconds") > 0);
    ck_assert(strstr(recorder_string(event, "reason"), "less time"));
    ck_assert_int_eq((int)json_array_size(json_object_get(event, "rows_per_s")), 3);
    ck_assert_int_eq(rec.last_devices[0].rows + rec.last_devices[1].rows + rec.last_devices[2].rows,
                     30); /* also after the short batch at the end */
}
END_TEST

/* From the event on, and not before, the steps have the shares that it says. */
START_TEST(steps_have_the_shares_of_the_events)
{
    long now[2] = {15, 15};
    int changes = 0;
    run_unequal(1, 5, 0, AUTO "batch=30 epochs=6 devices=cpu:0-1", NULL);
    for (size_t i = 0; i < json_array_size(rec.events); i++) {
        const json_t *event = json_array_get(rec.events, i);
        const char *name = recorder_string(event, "event");
        if (strcmp(name, "shares") == 0) {
            changes++;
            for (int j = 0; j < 2; j++)
                now[j] = share(event, j);
        }
        if (strcmp(name, "step") != 0)
            continue;
        const json_t *shards = json_object_get(event, "shards");
        long rows = (long)recorder_number(event, "rows");
        long first = (long)json_integer_value(json_array_get(shards, 0));
        /* The short batch goes by the same shares. */
        double quota = (double)(rows * now[0]) / 30;
        ck_assert_msg(rows == 30 ? first == now[0]
                                 : (double)first > quota - 1 && (double)first < quota + 1,
                      "%ld of %ld rows, where %ld of 30 are due", first, rows, now[0]);
    }
    ck_assert_int_ge(changes, 1);
}
END_TEST

START_TEST(each_row_once_an_epoch)
{
    run_unequal(1, 5, 2, AUTO "batch=30 epochs=6 devices=cpu:0-2 test-rows=77", NULL);
    ck_assert_int_ge(recorder_count(&rec, "shares"), 1);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(atomic_load(&fake.trained[i]), 6);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(atomic_load(&fake.evaluated[i]), i < 77 ? 6 : 0);
}
END_TEST

/* The device checks that the rows of all shards add up to the batch (try_allreduce). */
START_TEST(sums_over_devices_continue)
{
    run_unequal(1, 5, 0, AUTO "batch=30 epochs=6 devices=cpu:0-1 sync-bn=yes", NULL);
    ck_assert_int_ge(recorder_count(&rec, "shares"), 1);
}
END_TEST

static void slow_down(struct recorder *recorder, const char *kind, json_t *event)
{
    (void)recorder;
    if (recorder_step(kind, event) == 60)
        fake.row_s[0] = 8;
}

START_TEST(a_device_becomes_slow_half_way)
{
    run_unequal(1, 1, 0, AUTO "batch=20 epochs=30 devices=cpu:0-1", slow_down);
    const json_t *last = recorder_event(&rec, "shares", -1);
    ck_assert(recorder_number(last, "step") > 60);
    ck_assert_int_lt(share(last, 0), share(last, 1));
}
END_TEST

/* Devices that share a processor gain nothing, and get their old shares back. */
START_TEST(back_when_it_does_not_pay)
{
    fake.competing = true;
    run_unequal(3, 1, 0, AUTO "batch=20 epochs=12 devices=cpu:0-1", NULL);
    ck_assert_int_eq(recorder_count(&rec, "shares"), 2);
    const json_t *there = recorder_event(&rec, "shares", 0);
    const json_t *back = recorder_event(&rec, "shares", -1);
    ck_assert(share(there, 0) == 5 && share(there, 1) == 15);
    ck_assert(share(back, 0) == 10 && share(back, 1) == 10);
    ck_assert_str_eq(
        recorder_string(back, "reason"),
        "back: a step computed 0% shorter, not 50% shorter; no other try for 64 steps");
    ck_assert_int_eq(rec.last_devices[0].rows, 10);
}
END_TEST

/* Speeds that change with every change of the shares, so that plans are wanted again and again; all
 * become faster, or it would seem that the change had not paid. */
static void turn_around(struct recorder *recorder, const char *kind, json_t *event)
{
    (void)recorder;
    (void)event;
    if (strcmp(kind, "shares") == 0) {
        double first = fake.row_s[0];
        fake.row_s[0] = 0.7 * fake.row_s[1];
        fake.row_s[1] = 0.69 * first;
    }
}

START_TEST(only_some_plans_are_kept)
{
    run_unequal(0.5, 3, 0, AUTO "batch=90 epochs=300 devices=cpu:0-1 test-rows=10", turn_around);
    ck_assert_int_ge(recorder_count(&rec, "shares"), 6);
    ck_assert_int_gt(atomic_load(&fake.most_plans), 4);
    ck_assert_int_le(atomic_load(&fake.most_plans), 2 * PLANS_CACHED);
    ck_assert_int_eq(atomic_load(&fake.plans), 0);
}
END_TEST

static const char *const fixed[] = {
    AUTO "batch=10 epochs=4 devices=cpu:0",      /* nobody to share with */
    AUTO "batch=2 max-steps=50 devices=cpu:0-2", /* not a row for each */
    AUTO "batch=100 epochs=9 devices=cpu:0-1",   /* not measured often enough */
    "model=linear data=random:100x5 batch=20 epochs=5 split=chunk devices=cpu:0-1",
    "model=linear data=random:100x5 batch=20 epochs=5 split=weighted:1,1 devices=cpu:0-1",
};

START_TEST(shares_that_stay)
{
    run_unequal(0.1, 3, 0, fixed[_i], NULL);
    ck_assert_int_eq(recorder_count(&rec, "shares"), 0);
}
END_TEST

static Suite *load_balance_suite(void)
{
    Suite *suite = suite_create("load_balance");
    TCase *tcase = add_case(suite, "auto");
    tcase_add_test(tcase, shares_follow_speed);
    tcase_add_test(tcase, steps_have_the_shares_of_the_events);
    tcase_add_test(tcase, each_row_once_an_epoch);
    tcase_add_test(tcase, sums_over_devices_continue);
    tcase_add_test(tcase, a_device_becomes_slow_half_way);
    tcase_add_test(tcase, back_when_it_does_not_pay);
    tcase_add_test(tcase, only_some_plans_are_kept);
    tcase_add_loop_test(tcase, shares_that_stay, 0, sizeof fixed / sizeof *fixed);
    return suite;
}

int main(void)
{
    return run_suites(load_balance_suite(), NULL);
}
