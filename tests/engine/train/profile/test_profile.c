/* SPDX-License-Identifier: MIT */
/* Where the time of steps went: adding up, the event, and reading it. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/train/profile/json.h"
#include "events/profile.h"
#include "tests/suites.h"

static struct profile profile;
static const char *const names[] = {"cpu:0", "cpu:1", "cpu:2"};

static void setup(void)
{
    profile = (struct profile){0};
}

static void teardown(void)
{
    profile_free(&profile);
}

static struct plan_time operation(const char *layer, int place, enum plan_direction direction,
                                  const char *method, double seconds)
{
    struct plan_time time = {.direction = direction,
                             .place = place,
                             .layer = layer,
                             .kind = "conv",
                             .flops = 100,
                             .bytes = 10,
                             .calls = 2,
                             .seconds = seconds};
    snprintf(time.method, sizeof time.method, "%s", method);
    return time;
}

static void take(int device, struct plan_time *times, int count)
{
    struct error err = ERROR_INIT;
    ck_assert(profile_take(&profile.devices[device], times, count, &err));
    for (int i = 0; i < count; i++)
        ck_assert(times[i].calls == 0 && times[i].seconds == 0);
}

/* A step of 10 s: handed out in 1, devices ready after 7 and 8, heard of after 9. */
static void step(int devices, long rows)
{
    struct step_part parts[3];
    for (int i = 0; i < devices; i++)
        parts[i] = (struct step_part){
            .rows = rows,
            .times = {.reduce_s = 0.5, .update_s = 0.25, .begin = 101, .end = 107 + i % 2}};
    const struct profile_moments moments = {100, 109, 110};
    profile_step(&profile, &moments, parts, devices);
}

static json_t *event_of(int devices)
{
    json_t *event = profile_json(&profile, names, devices);
    ck_assert_ptr_nonnull(event);
    return event;
}

START_TEST(parts_add_up)
{
    struct plan_time times[] = {{.part = PLAN_INPUT, .layer = "", .calls = 1, .seconds = 0.5},
                                operation("a", 0, PLAN_FORWARD, "x", 3),
                                {.part = PLAN_LOSS, .layer = "", .calls = 1, .seconds = 0.125}};
    step(2, 4);
    take(0, times, 3);
    json_t *event = event_of(2);
    static const double want[2][9] = {{3, 0.5, 0.125, 0.25, 0.5, 1, 2, 1, 1.625},
                                      {0, 0, 0, 0.25, 0.5, 0, 2, 1, 6.25}};
    static const char *const keys[] = {"operations_s", "input_s",   "loss_s",
                                       "optimizer_s",  "sync_s",    "wait_s",
                                       "split_s",      "metrics_s", "rest_s"};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 9; k++) {
            const json_t *device = json_array_get(json_object_get(event, "devices"), i);
            ck_assert_double_eq_tol(json_real_value(json_object_get(device, keys[k])), want[i][k],
                                    1e-12);
        }
    json_decref(event);
}
END_TEST

START_TEST(clearing_counts_what_is_left_out)
{
    struct plan_time times[] = {operation("a", 0, PLAN_FORWARD, "", 3)};
    step(1, 4);
    take(0, times, 1);
    profile_clear(&profile);
    step(1, 4);
    json_t *event = event_of(1);
    ck_assert_int_eq(json_integer_value(json_object_get(event, "left_out")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(event, "steps")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(event, "operations")), 0);
    json_decref(event);
}
END_TEST

START_TEST(a_method_has_a_row_of_its_own)
{
    struct plan_time first[] = {operation("b", 1, PLAN_FORWARD, "x", 1),
                                operation("a", 0, PLAN_BACKWARD_WEIGHTS, "x", 2)};
    struct plan_time second[] = {operation("b", 1, PLAN_FORWARD, "y", 4),
                                 operation("a", 0, PLAN_BACKWARD_WEIGHTS, "x", 8)};
    struct profile_row *rows;
    size_t count;
    step(2, 4);
    take(0, first, 2);
    take(1, second, 2);
    json_t *event = event_of(2);
    rows = profile_event_rows(event, PROFILE_ALL_DEVICES, PROFILE_BY_PLACE, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert(strcmp(rows[0].layer, "a") == 0 && rows[0].seconds == 10 && rows[0].calls == 4);
    ck_assert(strcmp(rows[1].method, "x") == 0 && rows[1].seconds == 1);
    ck_assert(strcmp(rows[2].method, "y") == 0 && rows[2].seconds == 4);
    ck_assert(rows[0].share == 0.5 && rows[0].flops == 40 && rows[0].bytes == 4);
    free(rows);
    rows = profile_event_rows(event, 1, PROFILE_BY_TIME, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(rows[0].seconds == 8 && rows[0].share == 0.8 && rows[0].flops == 25);
    ck_assert(strcmp(rows[1].method, "y") == 0 && rows[1].flops == 50);
    free(rows);
    json_decref(event);
}
END_TEST

START_TEST(work_is_shared_out_by_rows)
{
    struct plan_time times[] = {operation("a", 0, PLAN_FORWARD, "", 1)}, again[] = {times[0]};
    size_t count;
    times[0].flops = 150;
    again[0].flops = 50;
    times[0].bytes = again[0].bytes = 0;
    take(0, times, 1);
    take(1, again, 1);
    step(2, 4);
    profile.devices[0].rows = 30;
    profile.devices[1].rows = 10;
    json_t *event = event_of(2);
    struct profile_row *rows = profile_event_rows(event, 0, PROFILE_BY_TIME, &count);
    ck_assert_double_eq_tol(rows[0].flops, 300, 1e-9);
    free(rows);
    rows = profile_event_rows(event, 1, PROFILE_BY_TIME, &count);
    ck_assert_double_eq_tol(rows[0].flops, 100, 1e-9);
    free(rows);
    json_decref(event);
}
END_TEST

/* A short batch on device 0 went by the method that device 1 has. */
START_TEST(work_is_given_where_rows_do_not_tell_it)
{
    struct plan_time first[] = {operation("a", 0, PLAN_FORWARD, "x", 3),
                                operation("a", 0, PLAN_FORWARD, "y", 1)};
    struct plan_time second[] = {operation("a", 0, PLAN_FORWARD, "y", 4)};
    size_t count;
    first[0].flops = 950;
    first[1].flops = 50;
    second[0].flops = 400;
    take(0, first, 2);
    take(1, second, 1);
    step(2, 4);
    profile.devices[0].rows = 100;
    profile.devices[1].rows = 40;
    json_t *event = event_of(2), *list = json_object_get(event, "operations");
    ck_assert_ptr_null(json_object_get(json_array_get(list, 0), "device_flops"));
    struct profile_row *rows = profile_event_rows(event, 0, PROFILE_BY_TIME, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_double_eq_tol(rows[1].flops, 100, 1e-9);
    free(rows);
    rows = profile_event_rows(event, 1, PROFILE_BY_TIME, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_double_eq_tol(rows[0].flops, 200, 1e-9);
    free(rows);
    rows = profile_event_rows(event, PROFILE_ALL_DEVICES, PROFILE_BY_TIME, &count);
    ck_assert_double_eq_tol(rows[0].flops, 180, 1e-9);
    free(rows);
    json_decref(event);
}
END_TEST

START_TEST(limits_are_given_where_they_are_known)
{
    struct plan_time times[] = {operation("a", 0, PLAN_FORWARD, "x", 2)}, again[] = {times[0]};
    double flops, bytes, steps;
    size_t count;
    take(0, times, 1);
    take(1, again, 1);
    step(3, 4);
    profile.devices[0].flops_limit = profile.devices[1].flops_limit = 1000;
    profile.devices[0].bytes_limit = 20;
    profile.devices[1].bytes_limit = 30;
    profile.unprofiled_steps = 4;
    profile.unprofiled_s = 2;
    json_t *event = event_of(2);
    ck_assert_double_eq(profile_event_unprofiled_s(event, &steps), 0.5);
    ck_assert_double_eq(steps, 4);
    struct profile_row *rows = profile_event_rows(event, 1, PROFILE_BY_TIME, &count);
    ck_assert_double_eq(rows[0].flops_limit, 1000);
    ck_assert_double_eq(rows[0].bytes_limit, 30);
    free(rows);
    /* All together have one limit where theirs are equal. */
    ck_assert(profile_event_limits(event, PROFILE_ALL_DEVICES, &flops, &bytes));
    ck_assert(flops == 1000 && bytes == 0);
    json_decref(event);
    event = event_of(3);
    ck_assert(json_is_null(
        json_object_get(json_array_get(json_object_get(event, "devices"), 2), "flops_limit")));
    ck_assert(!profile_event_limits(event, 2, &flops, &bytes));
    ck_assert(!profile_event_limits(event, PROFILE_ALL_DEVICES, &flops, &bytes));
    json_decref(event);
}
END_TEST

/* Another device with what device 0 has, without a search for each operation. */
static void copy_first(int device)
{
    const struct profile_device *first = &profile.devices[0];
    struct profile_device *copy = &profile.devices[device];
    *copy = *first;
    copy->list = malloc((size_t)first->count * sizeof *copy->list);
    ck_assert_ptr_nonnull(copy->list);
    memcpy(copy->list, first->list, (size_t)first->count * sizeof *copy->list);
    copy->capacity = first->count;
}

/* Of the largest networks on the most devices it still fits into a line. */
START_TEST(the_event_stays_small)
{
    enum { OPERATIONS = 2000 };
    static char layers[OPERATIONS][64];
    const char *many[SPEC_MAX_DEVICES];
    double whole = 0;
    for (int j = 0; j < OPERATIONS; j++) {
        snprintf(layers[j], sizeof layers[j], "%040d", j);
        struct plan_time time[] = {operation(layers[j], j, PLAN_BACKWARD_WEIGHTS,
                                             "oneDNN jit_wino_4x3:avx512_core", j / 7.0)};
        whole += SPEC_MAX_DEVICES * time[0].seconds;
        take(0, time, 1);
    }
    many[0] = "cuda:63";
    for (int i = 1; i < SPEC_MAX_DEVICES; i++) {
        many[i] = many[0];
        copy_first(i);
    }
    for (int count = 1; count <= SPEC_MAX_DEVICES; count += SPEC_MAX_DEVICES - 1) {
        double sum = 0;
        size_t shown;
        json_t *event = profile_json(&profile, many, count);
        ck_assert_uint_lt(json_dumpb(event, NULL, 0, JSON_LINE), 200 << 10);
        json_object_set_new(event, "steps", json_integer(1));
        struct profile_row *rows =
            profile_event_rows(event, PROFILE_ALL_DEVICES, PROFILE_BY_PLACE, &shown);
        for (size_t i = 0; i < shown; i++)
            sum += rows[i].seconds;
        ck_assert_str_eq(rows[shown - 1].kind, "others");
        ck_assert_double_eq_tol(sum, whole * count / SPEC_MAX_DEVICES, 1e-6 * sum);
        free(rows);
        json_decref(event);
    }
}
END_TEST

/* Jansson's allocations that still succeed before one fails; the rest do again. */
static long granted;

static void *grant(size_t size)
{
    return granted-- == 0 ? NULL : malloc(size);
}

START_TEST(an_event_is_whole_or_there_is_none)
{
    struct plan_time first[] = {operation("a", 0, PLAN_FORWARD, "", 1),
                                operation("b", 1, PLAN_FORWARD, "", 2)};
    struct plan_time second[] = {operation("a", 0, PLAN_FORWARD, "other", 3)};
    json_t *expected, *event = NULL;
    take(0, first, 2);
    take(1, second, 1);
    step(2, 5);
    expected = event_of(2);
    json_set_alloc_funcs(grant, free);
    for (long n = 0; !event || granted < 0; n++) {
        json_decref(event);
        granted = n;
        event = profile_json(&profile, names, 2);
        ck_assert(!event || json_equal(event, expected));
    }
    json_set_alloc_funcs(malloc, free);
    ck_assert_ptr_nonnull(event);
    json_decref(event);
    json_decref(expected);
}
END_TEST

START_TEST(nonsense_is_nothing)
{
    static const char *const texts[] = {
        "{}", "[]", "{\"operations\":[1,{}],\"devices\":[2]}",
        "{\"steps\":\"x\",\"seconds\":-1,\"devices\":{},\"operations\":[{\"calls\":[1e999]}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *event = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        struct profile_row row;
        size_t count;
        struct profile_row *rows =
            profile_event_rows(event, PROFILE_ALL_DEVICES, PROFILE_BY_TIME, &count);
        ck_assert_ptr_nonnull(rows);
        ck_assert_uint_eq(count, 0);
        for (size_t k = 0; profile_event_outside(event, 0, k, &row); k++)
            ck_assert(row.seconds == 0 && row.share == 0);
        ck_assert_double_eq(profile_event_step_s(event), 0);
        free(rows);
        json_decref(event);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile");
    TCase *tcase = tcase_create("profile");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, limits_are_given_where_they_are_known);
    tcase_add_test(tcase, parts_add_up);
    tcase_add_test(tcase, clearing_counts_what_is_left_out);
    tcase_add_test(tcase, a_method_has_a_row_of_its_own);
    tcase_add_test(tcase, work_is_shared_out_by_rows);
    tcase_add_test(tcase, work_is_given_where_rows_do_not_tell_it);
    tcase_add_test(tcase, the_event_stays_small);
    tcase_add_test(tcase, an_event_is_whole_or_there_is_none);
    tcase_add_test(tcase, nonsense_is_nothing);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
