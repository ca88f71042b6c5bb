/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "base/json.h"
#include "events/timeline.h"
#include "tests/suites.h"

/* Two stages and two micro-batches: forward passes of 1 s, backward passes of 2 s, gradients that
 * were left for later and an update of 1 s; the second stage takes half as long for its backward
 * passes. */
static const char step[] =
    "{\"event\":\"timeline\",\"step\":7,\"seconds\":10,\"micro_batches\":2,\"predicted_s\":9,"
    "\"predicted_bubble\":0.25,\"stages\":["
    "{\"device\":\"cpu:0\",\"last_layer\":\"conv2\",\"forward_s\":1,\"backward_s\":2,\"fixed_s\":0."
    "8,"
    "\"forward\":[0,1000000,1000000,2000000],\"backward\":[3000000,5000000,6000000,8000000],"
    "\"update\":[8000000,8250000,8250000,9000000]},"
    "{\"device\":\"cpu:1\",\"last_layer\":\"fc\",\"forward_s\":1,\"backward_s\":1,"
    "\"forward\":[1000000,2000000,3000000,4000000],\"backward\":[2000000,3000000,4000000,5000000],"
    "\"update\":[5000000,6000000]}]}";

static json_t *event;
static struct timeline timeline;

static void setup(void)
{
    json_error_t error;
    event = json_loads(step, 0, &error);
    ck_assert_ptr_nonnull(event);
    timeline = timeline_read(event);
}

static void teardown(void)
{
    json_decref(event);
}

START_TEST(lost_time_has_causes)
{
    ck_assert_uint_eq(timeline.stages, 2);
    /* The first stage begins its second backward pass a second after it could. */
    ck_assert_double_eq_tol(timeline.transfer, 0.05, 1e-9);
    ck_assert_double_eq_tol(timeline.fill_drain, 0.2, 1e-9);
    ck_assert_double_eq_tol(timeline.bubble, 0.4, 1e-9);
    const struct timeline_stage slow = timeline_stage(&timeline, 0),
                                fast = timeline_stage(&timeline, 1);
    ck_assert_str_eq(slow.device, "cpu:0");
    ck_assert_str_eq(fast.last_layer, "fc");
    ck_assert_double_eq_tol(slow.busy, 0.7, 1e-9);
    char text[200];
    timeline_summary(&timeline, text, sizeof text);
    ck_assert_str_eq(text, "step 7: 10.0 s, 40% bubble (predicted 25%): 20% fill and drain, 15% "
                           "imbalance, 5% transfer; small micro-batches cost 4%");
}
END_TEST

/* The second stage computes gradients that were left between passes: that is no transfer. */
START_TEST(gradients_in_between_are_not_transfers)
{
    json_error_t error;
    json_t *one = json_loads(
        "{\"seconds\":10,\"micro_batches\":2,\"stages\":["
        "{\"forward_s\":1,\"backward_s\":1,\"forward\":[0,1000000,1000000,2000000],"
        "\"backward\":[4000000,5000000,8000000,9000000],\"update\":[9000000,10000000]},"
        "{\"forward_s\":1,\"backward_s\":1,\"forward\":[1000000,2000000,5000000,6000000],"
        "\"backward\":[2000000,3000000,6000000,7000000],"
        "\"update\":[3000000,5000000,7000000,9000000]}]}",
        0, &error);
    ck_assert_ptr_nonnull(one);
    /* The first stage begins each backward pass a second after it could. */
    ck_assert_double_eq_tol(timeline_read(one).transfer, 0.1, 1e-9);
    json_decref(one);
}
END_TEST

START_TEST(too_many_passes_are_not_drawn)
{
    size_t index;
    json_t *stage;
    json_array_foreach(json_object_get(event, "stages"), index, stage)
    {
        json_array_clear(json_object_get(stage, "forward"));
        json_array_clear(json_object_get(stage, "backward"));
    }
    const struct timeline sums = timeline_read(event);
    char text[200], row[11];
    ck_assert(timeline.drawn && !sums.drawn);
    timeline_summary(&sums, text, sizeof text);
    ck_assert_str_eq(text, "step 7: 10.0 s, 40% bubble (predicted 25%): too many passes to draw; "
                           "small micro-batches cost 4%");
    timeline_row(&sums, 0, 10, row, NULL);
    ck_assert_str_eq(row, "          ");
}
END_TEST

START_TEST(rows_show_who_does_what)
{
    enum timeline_task tasks[20];
    char text[21];
    timeline_row(&timeline, 0, 10, text, tasks);
    ck_assert_str_eq(text, "01.aa.bb+.");
    ck_assert_int_eq(tasks[0], TIMELINE_FORWARD);
    ck_assert_int_eq(tasks[8], TIMELINE_UPDATE);
    timeline_row(&timeline, 1, 10, text, NULL);
    ck_assert_str_eq(text, ".0a1b+....");
    timeline_row(&timeline, 1, 20, text, NULL);
    ck_assert_str_eq(text, "..00aa11bb++........");
    /* What lasts longest in a cell stands for it. */
    timeline_row(&timeline, 0, 2, text, NULL);
    ck_assert_str_eq(text, "ab");
}
END_TEST

START_TEST(no_pass_is_too_short_to_be_seen)
{
    char text[11];
    json_t *one = json_pack("{s:f, s:i, s:[{s:[iiii], s:[iiii]}]}", "seconds", 10.0,
                            "micro_batches", 2, "stages", "forward", 100000, 200000, 2900000,
                            3000000, "backward", 5500000, 5900000, 8900000, 9200000);
    ck_assert_ptr_nonnull(one);
    const struct timeline read = timeline_read(one);
    timeline_row(&read, 0, 10, text, NULL);
    ck_assert_str_eq(text, "0.1..a...b");
    json_decref(one);
}
END_TEST

START_TEST(passes_can_be_drawn_one_by_one)
{
    double from, to;
    ck_assert(timeline_pass(&timeline, 0, TIMELINE_BACKWARD, 1, &from, &to));
    ck_assert_double_eq(from, 6);
    ck_assert_double_eq(to, 8);
    ck_assert(!timeline_pass(&timeline, 0, TIMELINE_BACKWARD, 2, &from, &to));
    ck_assert(!timeline_pass(&timeline, 2, TIMELINE_FORWARD, 0, &from, &to));
}
END_TEST

/* From another version, or damaged. */
START_TEST(what_is_missing_is_nothing)
{
    static const char *const others[] = {"{}", "[]", "{\"stages\":3,\"seconds\":\"x\"}",
                                         "{\"seconds\":-1,\"stages\":[{},7]}",
                                         "{\"seconds\":1,\"stages\":[{\"forward\":[1]}]}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        json_error_t error;
        json_t *other = json_loads(others[i], 0, &error);
        char text[200];
        const struct timeline read = timeline_read(other);
        timeline_summary(&read, text, sizeof text);
        for (size_t k = 0; k < read.stages; k++) {
            timeline_row(&read, k, 10, text, NULL);
            ck_assert_str_eq(text, "          ");
            ck_assert_str_eq(timeline_stage(&read, k).device, "");
        }
        json_decref(other);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timelines");
    TCase *tc = tcase_create("timelines");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, lost_time_has_causes);
    tcase_add_test(tc, gradients_in_between_are_not_transfers);
    tcase_add_test(tc, too_many_passes_are_not_drawn);
    tcase_add_test(tc, rows_show_who_does_what);
    tcase_add_test(tc, no_pass_is_too_short_to_be_seen);
    tcase_add_test(tc, passes_can_be_drawn_one_by_one);
    tcase_add_test(tc, what_is_missing_is_nothing);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
