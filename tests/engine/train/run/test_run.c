/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* Runs as such: rows and events. The devices are those of fake_backend.c. */

/* "[4,4,2]" */
static void check_list(const json_t *event, const char *key, const char *expected)
{
    char *text = json_dumps(json_object_get(event, key), JSON_COMPACT);
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(shards_of_thirty_rows_on_eight_devices)
{
    run_ok(LINEAR "devices=cpu:0-7");
    ck_assert_int_eq(recorder_count(&rec, "step"), 8);
    for (int i = 0; i < 8; i++) {
        const json_t *step = recorder_event(&rec, "step", i);
        bool last = i % 4 == 3;
        check_list(step, "shards", last ? "[2,2,2,2,2]" : "[4,4,4,4,4,4,4,2]");
        ck_assert(recorder_number(step, "rows") == (last ? 10 : 30));
    }
}
END_TEST

static const struct {
    const char *settings, *full, *rest;
} shard_table[] = {
    {"devices=cpu:0-7 split=balanced", "[4,4,4,4,4,4,3,3]", "[2,2,1,1,1,1,1,1]"},
    {"devices=cpu:0-4 split=even", "[6,6,6,6,6]", "[2,2,2,2,2]"},
    {"devices=cpu:0-2 split=weighted:0,1,2", "[0,10,20]", "[0,3,7]"},
    {"devices=cpu:0-1 split=weighted:1,0", "[30]", "[10]"},
    {"devices=cpu:0", "[30]", "[10]"},
};

START_TEST(shards_by_rule)
{
    char settings[200];
    snprintf(settings, sizeof settings, LINEAR "%s", shard_table[_i].settings);
    run_ok(settings);
    check_list(recorder_event(&rec, "step", 0), "shards", shard_table[_i].full);
    check_list(recorder_event(&rec, "step", 3), "shards", shard_table[_i].rest);
}
END_TEST

START_TEST(every_row_once_in_an_epoch)
{
    char settings[200];
    snprintf(settings, sizeof settings, LINEAR "%s", shard_table[_i].settings);
    run_ok(settings);
    for (int row = 0; row < FAKE_ROWS; row++) {
        ck_assert_int_eq(atomic_load(&fake.trained[row]), row < 100 ? 2 : 0);
        ck_assert_int_eq(atomic_load(&fake.evaluated[row]), row < 100 ? 2 : 0);
    }
}
END_TEST

START_TEST(evaluation_in_chunks_counts_each_row_once)
{
    run_ok("model=linear data=random:1000x5 batch=7 epochs=1 devices=cpu:0-2 test-rows=901");
    for (int row = 0; row < FAKE_ROWS; row++) {
        ck_assert_int_eq(atomic_load(&fake.trained[row]), row < 1000);
        ck_assert_int_eq(atomic_load(&fake.evaluated[row]), row < 901);
    }
}
END_TEST

START_TEST(why_these_devices)
{
    run_ok(LINEAR "devices=cpu:0");
    ck_assert_ptr_null(json_object_get(recorder_event(&rec, "run", 0), "choice"));
    recorder_free(&rec);
    recorder_init(&rec, LINEAR "devices=cpu:0");
    rec.keep.choice = "free:1: cuda:0";
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_str_eq(member_text(recorder_event(&rec, "run", 0), "choice"), "free:1: cuda:0");
}
END_TEST

START_TEST(first_rows_only)
{
    run_ok(LINEAR "train-rows=33 test-rows=7 order=sequential");
    for (int row = 0; row < FAKE_ROWS; row++) {
        ck_assert_int_eq(atomic_load(&fake.trained[row]), row < 33 ? 2 : 0);
        ck_assert_int_eq(atomic_load(&fake.evaluated[row]), row < 7 ? 2 : 0);
    }
    ck_assert(recorder_number(recorder_event(&rec, "run", 0), "train_rows") == 33);
    ck_assert(recorder_number(recorder_event(&rec, "run", 0), "test_rows") == 7);
}
END_TEST

START_TEST(events_in_order)
{
    static const char *const expected[] = {"run",  "step", "step", "step", "step",  "epoch",
                                           "step", "step", "step", "step", "epoch", "end"};
    run_ok(LINEAR "devices=cpu:0-1");
    ck_assert_uint_eq(json_array_size(rec.events), sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        ck_assert_str_eq(recorder_string(json_array_get(rec.events, i), "event"), expected[i]);
    for (int i = 0; i < 8; i++) {
        const json_t *step = recorder_event(&rec, "step", i);
        ck_assert(recorder_number(step, "step") == i + 1);
        ck_assert(recorder_number(step, "epoch") == 1 + i / 4);
        ck_assert(recorder_number(step, "lr") == 0.1);
        ck_assert(recorder_number(step, "loss") > 0);
        ck_assert(recorder_number(step, "seconds") > 0);
        ck_assert(recorder_number(step, "correct") <= recorder_number(step, "rows"));
    }
}
END_TEST

START_TEST(run_event_says_what_is_run)
{
    run_ok(LINEAR "devices=cpu:0,cpu:1 sync=central momentum=0.9");
    const json_t *run = recorder_event(&rec, "run", 0);
    ck_assert(recorder_number(run, "run") == 12);
    ck_assert_str_eq(recorder_string(run, "model"), "linear");
    ck_assert_str_eq(recorder_string(run, "data"), "random:100x5");
    check_list(run, "devices", "[\"cpu:0\",\"cpu:1\"]");
    check_list(run, "hardware", "[\"pretended\",\"pretended\"]");
    check_list(run, "input", "[5,1,1]");
    ck_assert(recorder_number(run, "params") == 12);
    ck_assert(recorder_number(run, "batch") == 30);
    ck_assert(recorder_number(run, "lr") == 0.1);
    ck_assert(recorder_number(run, "momentum") == 0.9);
    ck_assert(recorder_number(run, "steps_per_epoch") == 4);
    ck_assert(recorder_number(run, "total_steps") == 8);
    ck_assert(recorder_number(run, "sync_bytes_per_step") == 32 * sizeof(float));
    ck_assert_str_eq(recorder_string(run, "sync"), "central");
    ck_assert_str_eq(recorder_string(run, "split"), "chunk");
    ck_assert_str_eq(recorder_string(run, "dtype"), "f32");
    ck_assert_str_ne(recorder_string(run, "sync_algorithm"), "");
}
END_TEST

/* The epoch's figures are those of its steps, and times add up. */
START_TEST(epoch_event_adds_up)
{
    run_ok(LINEAR "devices=cpu:0-2");
    for (int epoch = 0; epoch < 2; epoch++) {
        const json_t *event = recorder_event(&rec, "epoch", epoch);
        double loss = 0, correct = 0, seconds = recorder_number(event, "seconds"), rows = 0;
        for (int i = 0; i < 4; i++) {
            const json_t *step = recorder_event(&rec, "step", 4 * epoch + i);
            loss += recorder_number(step, "loss") * recorder_number(step, "rows");
            correct += recorder_number(step, "correct");
        }
        ck_assert(recorder_number(event, "epoch") == epoch + 1);
        ck_assert(recorder_number(event, "step") == 4 * (epoch + 1));
        ck_assert_double_eq_tol(recorder_number(event, "train_loss"), loss / 100, 1e-9);
        ck_assert_double_eq_tol(recorder_number(event, "train_acc"), correct / 100, 1e-12);
        ck_assert_double_eq_tol(recorder_number(event, "samples_per_s"), 100 / seconds,
                                1e-6 * 100 / seconds);
        ck_assert_double_eq_tol(recorder_number(event, "wait_s") +
                                    recorder_number(event, "compute_s") +
                                    recorder_number(event, "sync_s"),
                                seconds, 1e-6);
        ck_assert(json_is_false(json_object_get(event, "partial")));
        ck_assert(recorder_number(event, "sync_bytes") == 4 * 32 * sizeof(float));
        ck_assert(recorder_number(event, "sync_bandwidth") > 0);
        ck_assert_double_eq_tol(recorder_number(event, "sync_bus_bandwidth") /
                                    recorder_number(event, "sync_bandwidth"),
                                4.0 / 3, 1e-9);
        const json_t *devices = json_object_get(event, "devices");
        ck_assert_uint_eq(json_array_size(devices), 3);
        for (size_t i = 0; i < 3; i++) {
            const json_t *device = json_array_get(devices, i);
            rows += recorder_number(device, "rows");
            ck_assert(recorder_number(device, "samples_per_s") > 0);
            ck_assert_double_eq_tol(recorder_number(device, "compute_s") +
                                        recorder_number(device, "sync_s") +
                                        recorder_number(device, "wait_s"),
                                    seconds, 1e-6);
        }
        ck_assert(rows == 100);
    }
}
END_TEST

START_TEST(end_event_sums_up)
{
    run_ok(LINEAR "epochs=4");
    const json_t *end = recorder_event(&rec, "end", 0);
    double seconds[4], sum = 0;
    for (int i = 0; i < 4; i++)
        sum += seconds[i] = recorder_number(recorder_event(&rec, "epoch", i), "seconds");
    ck_assert(recorder_number(end, "epochs") == 4);
    ck_assert(recorder_number(end, "steps") == 16);
    ck_assert(recorder_number(end, "test_acc") ==
              recorder_number(recorder_event(&rec, "epoch", 3), "test_acc"));
    double low = fmin(seconds[1], fmin(seconds[2], seconds[3]));
    double high = fmax(seconds[1], fmax(seconds[2], seconds[3]));
    double median = sum - seconds[0] - low - high;
    ck_assert_double_eq_tol(recorder_number(end, "s_per_epoch"), median, 1e-9);
    ck_assert_double_eq_tol(recorder_number(end, "samples_per_s") * median, 100, 1e-3);
    ck_assert_double_eq_tol(recorder_number(end, "train_s"), sum, 1e-9);
    /* What the run has come to after each epoch: the first counts only as long as it is alone. */
    const double so_far[] = {seconds[0], seconds[1], (seconds[1] + seconds[2]) / 2, median};
    for (int i = 0; i < 4; i++) {
        const json_t *event = recorder_event(&rec, "epoch", i);
        ck_assert_double_eq_tol(recorder_number(json_object_get(event, "so_far"), "s_per_epoch"),
                                so_far[i], 1e-9);
    }
    ck_assert_ptr_null(json_object_get(end, "error"));
}
END_TEST

START_TEST(max_steps_within_an_epoch)
{
    run_ok(LINEAR "max-steps=6");
    ck_assert_int_eq(recorder_count(&rec, "step"), 6);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 2);
    const json_t *part = recorder_event(&rec, "epoch", 1), *end = recorder_event(&rec, "end", 0);
    ck_assert(json_is_true(json_object_get(part, "partial")));
    ck_assert(recorder_number(part, "steps") == 2);
    ck_assert(recorder_number(part, "rows") == 60);
    ck_assert(recorder_number(end, "epochs") == 1);
    ck_assert(recorder_number(end, "s_per_epoch") ==
              recorder_number(recorder_event(&rec, "epoch", 0), "seconds"));
    ck_assert(recorder_number(end, "test_acc") == recorder_number(part, "test_acc"));
}
END_TEST

START_TEST(batch_larger_than_the_data)
{
    run_ok(LINEAR "batch=256 devices=cpu:0-2");
    ck_assert_int_eq(recorder_count(&rec, "step"), 2);
    check_list(recorder_event(&rec, "step", 1), "shards", "[34,34,32]");
}
END_TEST

/* The plan has the note after every step; the run reports it once. */
START_TEST(the_note_of_a_plan_is_reported_once)
{
    fake.device = 1;
    fake.pass = 2;
    fake.note = "no graphs";
    run_ok(LINEAR "devices=cpu:0-1");
    ck_assert_int_eq(recorder_count(&rec, "warning"), 1);
    ck_assert_str_eq(recorder_string(recorder_event(&rec, "warning", 0), "text"),
                     "cpu:1: no graphs");
    size_t before = 0;
    while (strcmp(recorder_string(json_array_get(rec.events, before), "event"), "warning") != 0)
        before++;
    const json_t *step = json_array_get(rec.events, before - 1);
    ck_assert_str_eq(recorder_string(step, "event"), "step");
    ck_assert(recorder_number(step, "step") == 2);
}
END_TEST

/* A backend that has no times of operations. */
START_TEST(passes_that_are_not_timed_by_operation)
{
    run_ok(LINEAR "devices=cpu:0-1 profile=yes");
    ck_assert_int_eq(recorder_count(&rec, "profile"), 1);
    const json_t *event = recorder_event(&rec, "profile", -1);
    ck_assert(recorder_number(event, "steps") == 7 && recorder_number(event, "left_out") == 1);
    ck_assert_uint_eq(json_array_size(json_object_get(event, "operations")), 0);
    for (size_t i = 0; i < 2; i++) {
        const json_t *device = json_array_get(json_object_get(event, "devices"), i);
        ck_assert(json_is_true(json_object_get(device, "passes_only")));
        ck_assert(recorder_number(device, "operations_s") > 0);
        ck_assert(recorder_number(device, "operations_s") < recorder_number(event, "seconds"));
    }
    recorder_free(&rec);
    run_ok(LINEAR "devices=cpu:0-1");
    ck_assert_int_eq(recorder_count(&rec, "profile"), 0);
}
END_TEST

/* The log */

START_TEST(log_holds_the_events)
{
    const char *path = temporary_path("log");
    struct error err = ERROR_INIT;
    char settings[700], *data;
    size_t length;
    snprintf(settings, sizeof settings, LINEAR "devices=cpu:0-1 log=%s", path);
    run_ok(settings);
    ck_assert_msg(file_read(path, 1 << 20, &data, &length, &err), "%s", err.text);
    char *at = data;
    for (size_t i = 0; i < json_array_size(rec.events); i++) {
        char *end = strchr(at, '\n');
        ck_assert_ptr_nonnull(end);
        *end = '\0';
        char *line = json_dumps(json_array_get(rec.events, i), JSON_LINE);
        ck_assert_str_eq(at, line);
        free(line);
        at = end + 1;
    }
    ck_assert_ptr_eq(at, data + length);
    free(data);
    unlink(path);
}
END_TEST

START_TEST(full_disk_ends_the_log_not_the_run)
{
    run_ok(LINEAR "log=/dev/full");
    ck_assert_int_eq(recorder_count(&rec, "step"), 8);
    ck_assert_ptr_nonnull(
        strstr(recorder_string(recorder_event(&rec, "end", 0), "log_error"), "No space"));
}
END_TEST

#define COUNT(table) (sizeof table / sizeof table[0])

static Suite *run_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *tcase = add_case(suite, "rows");
    tcase_add_test(tcase, shards_of_thirty_rows_on_eight_devices);
    tcase_add_loop_test(tcase, shards_by_rule, 0, COUNT(shard_table));
    tcase_add_loop_test(tcase, every_row_once_in_an_epoch, 0, COUNT(shard_table));
    tcase_add_test(tcase, evaluation_in_chunks_counts_each_row_once);
    tcase_add_test(tcase, why_these_devices);
    tcase_add_test(tcase, first_rows_only);
    tcase_add_test(tcase, batch_larger_than_the_data);
    tcase = add_case(suite, "events");
    tcase_add_test(tcase, events_in_order);
    tcase_add_test(tcase, run_event_says_what_is_run);
    tcase_add_test(tcase, epoch_event_adds_up);
    tcase_add_test(tcase, end_event_sums_up);
    tcase_add_test(tcase, max_steps_within_an_epoch);
    tcase_add_test(tcase, the_note_of_a_plan_is_reported_once);
    tcase_add_test(tcase, passes_that_are_not_timed_by_operation);
    tcase_add_test(tcase, log_holds_the_events);
    tcase_add_test(tcase, full_disk_ends_the_log_not_the_run);
    return suite;
}

int main(void)
{
    return run_suites(run_suite(), NULL);
}
