/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/server/keeper/keeper_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The thread that writes runs into the store. */

#define THREADS 4
#define EACH    1500

struct source {
    struct keeper *keeper;
    long run;
};

static void *hand_over_events(void *context)
{
    const struct source *source = context;
    put_run(source->keeper, source->run, "running");
    add_events(source->keeper, source->run, 0, EACH);
    put_run(source->keeper, source->run, "done");
    return NULL;
}

START_TEST(all_that_threads_hand_over_is_kept_in_order)
{
    struct keeper *keeper = start_afresh();
    struct source sources[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        sources[i] = (struct source){keeper, i + 1};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hand_over_events, &sources[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    keeper_stop(keeper);
    for (int i = 0; i < THREADS; i++)
        check_events(i + 1, EACH);
    struct keeper_past past;
    keeper = start(&past);
    ck_assert_int_eq(past.last_number, THREADS);
    ck_assert_uint_eq(json_array_size(past.runs), THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        const json_t *run = json_array_get(past.runs, i);
        ck_assert_str_eq(json_string_value(json_object_get(run, "status")), "done");
    }
    ck_assert_int_eq(told("interrupted"), 0);
    json_decref(past.runs);
    keeper_stop(keeper);
}
END_TEST

START_TEST(later_words_replace_earlier_ones)
{
    struct keeper *keeper = start_afresh();
    put_run(keeper, 1, "done");
    add_events(keeper, 1, 0, 1);
    for (long epoch = 1; epoch <= 5; epoch++)
        add_epoch(keeper, 1, epoch, 0.5);
    keeper_add_event(keeper, 1, "end", "{\"event\":\"end\",\"step\":50}");
    keeper_rewind(keeper, 1, 20);
    for (long epoch = 3; epoch <= 4; epoch++)
        add_epoch(keeper, 1, epoch, 0.5);
    keeper_set_tags(keeper, 1, json_pack("[s]", "old"));
    keeper_set_tags(keeper, 1, json_pack("[s,s]", "new", "thesis"));
    put_run(keeper, 2, "done");
    keeper_delete(keeper, 2);
    keeper_delete(keeper, 9); /* never was */
    keeper_add_event(keeper, 2, "warning", "{}");
    keeper_stop(keeper);
    check_epochs(1, (const long[]){1, 2, 3, 4}, 4);
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *run;
    ck_assert_msg(store_head(store, 1, &run, &err), "%s", err.text);
    ck_assert_uint_eq(json_array_size(json_object_get(run, "tags")), 2);
    json_decref(run);
    ck_assert(!store_head(store, 2, &run, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
    store_close(store);
}
END_TEST

START_TEST(what_a_crash_left_is_interrupted)
{
    struct keeper *keeper = start_afresh();
    put_run(keeper, 1, "done");
    put_run(keeper, 2, "running");
    put_run(keeper, 3, "queued");
    keeper_stop(keeper);
    struct keeper_past past;
    keeper = start(&past);
    ck_assert_int_eq(told("was interrupted"), 2);
    const char *const wanted[] = {"done", "interrupted", "interrupted"};
    for (size_t i = 0; i < 3; i++) {
        const json_t *run = json_array_get(past.runs, i);
        ck_assert_str_eq(json_string_value(json_object_get(run, "status")), wanted[i]);
    }
    json_decref(past.runs);
    keeper_stop(keeper);
}
END_TEST

START_TEST(without_a_store_nothing_is_kept)
{
    struct keeper *keeper;
    struct keeper_past past;
    struct error err = ERROR_INIT;
    json_t *events, *points;
    free(path);
    path = format("%s/file/runs.db", folder);
    put_file(folder, "file", "x", 1);
    keeper_start(path, &messages, &keeper, &past);
    ck_assert_ptr_null(keeper);
    ck_assert_ptr_null(past.runs);
    ck_assert_int_eq(told("the runs of this engine are lost when it ends"), 1);
    put_run(keeper, 1, "done");
    add_events(keeper, 1, 0, 3);
    keeper_add_point(keeper, 1, json_object());
    keeper_set_points(keeper, 1, json_array());
    keeper_rewind(keeper, 1, 0);
    keeper_add_epoch(keeper, 1, 1, 0.5, "{}");
    keeper_set_tags(keeper, 1, json_array());
    keeper_delete(keeper, 1);
    ck_assert(!keeper_read(keeper, 1, 10, &events, &points, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
    keeper_stop(keeper);
}
END_TEST

/* By an engine that leaves a hanging thread behind: what that still says is not written. */
START_TEST(finishing_writes_all)
{
    struct keeper *keeper = start_afresh();
    put_run(keeper, 1, "running");
    add_events(keeper, 1, 0, 200);
    keeper_finish(keeper, 60);
    check_events(1, 200);
    add_events(keeper, 1, 200, 1);
    keeper_stop(keeper);
    check_events(1, 200);
}
END_TEST

START_TEST(readers_know_whether_somebody_writes)
{
    struct error err = ERROR_INIT;
    struct store *reader;
    struct keeper *keeper = start_afresh();
    ck_assert_msg(store_open_reading(path, &reader, &err), "%s", err.text);
    ck_assert(store_has_writer(reader));
    ck_assert(store_has_writer(reader)); /* looking changes nothing */
    keeper_stop(keeper);
    ck_assert(!store_has_writer(reader));
    keeper_stop(start_afresh());
    store_close(reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keeper");
    TCase *tests = tcase_create("keeper");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, all_that_threads_hand_over_is_kept_in_order);
    tcase_add_test(tests, later_words_replace_earlier_ones);
    tcase_add_test(tests, what_a_crash_left_is_interrupted);
    tcase_add_test(tests, finishing_writes_all);
    tcase_add_test(tests, without_a_store_nothing_is_kept);
    tcase_add_test(tests, readers_know_whether_somebody_writes);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
