/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "store/read.h"
#include "tests/engine/server/history/fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The thread that writes runs into the store. */

#define THREADS 4
#define EACH    1500

struct source {
    struct history *history;
    long run;
};

static void *hand_over_events(void *context)
{
    const struct source *source = context;
    put_run(source->history, source->run, "running");
    add_events(source->history, source->run, 0, EACH);
    put_run(source->history, source->run, "done");
    return NULL;
}

START_TEST(all_that_threads_hand_over_is_kept_in_order)
{
    struct history *history = start_afresh();
    struct source sources[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        sources[i] = (struct source){history, i + 1};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hand_over_events, &sources[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    history_stop(history);
    for (int i = 0; i < THREADS; i++)
        check_events(i + 1, EACH);
    struct stored_runs past;
    history = start(&past);
    ck_assert_int_eq(past.last_number, THREADS);
    ck_assert_uint_eq(json_array_size(past.runs), THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        const json_t *run = json_array_get(past.runs, i);
        ck_assert_str_eq(json_string_value(json_object_get(run, "status")), "done");
    }
    ck_assert_int_eq(told("interrupted"), 0);
    json_decref(past.runs);
    history_stop(history);
}
END_TEST

START_TEST(later_words_replace_earlier_ones)
{
    struct history *history = start_afresh();
    put_run(history, 1, "done");
    add_events(history, 1, 0, 1);
    for (long epoch = 1; epoch <= 5; epoch++)
        add_epoch(history, 1, epoch, 0.5);
    history_add_event(history, 1, "end", "{\"event\":\"end\",\"step\":50}");
    history_rewind(history, 1, 20);
    for (long epoch = 3; epoch <= 4; epoch++)
        add_epoch(history, 1, epoch, 0.5);
    history_set_tags(history, 1, json_pack("[s]", "old"));
    history_set_tags(history, 1, json_pack("[s,s]", "new", "thesis"));
    put_run(history, 2, "done");
    history_delete(history, 2);
    history_delete(history, 9); /* never was */
    history_add_event(history, 2, "warning", "{}");
    history_stop(history);
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
    struct history *history = start_afresh();
    put_run(history, 1, "done");
    put_run(history, 2, "running");
    put_run(history, 3, "queued");
    history_stop(history);
    struct stored_runs past;
    history = start(&past);
    ck_assert_int_eq(told("was interrupted"), 2);
    ck_assert_uint_eq(json_array_size(past.interrupted), 2);
    json_decref(past.interrupted);
    const char *const wanted[] = {"done", "interrupted", "interrupted"};
    for (size_t i = 0; i < 3; i++) {
        const json_t *run = json_array_get(past.runs, i);
        ck_assert_str_eq(json_string_value(json_object_get(run, "status")), wanted[i]);
    }
    json_decref(past.runs);
    history_stop(history);
}
END_TEST

START_TEST(without_a_store_nothing_is_kept)
{
    struct history *history;
    struct stored_runs past;
    struct error err = ERROR_INIT;
    json_t *events, *points;
    free(path);
    path = format("%s/file/runs.db", folder);
    put_file(folder, "file", "x", 1);
    history_start(path, &messages, &history, &past);
    ck_assert_ptr_null(history);
    ck_assert_ptr_null(past.runs);
    ck_assert_int_eq(told("the runs of this engine are lost when it ends"), 1);
    put_run(history, 1, "done");
    add_events(history, 1, 0, 3);
    history_add_point(history, 1, json_object());
    history_set_points(history, 1, json_array());
    history_rewind(history, 1, 0);
    history_add_epoch(history, 1, 1, 0.5, "{}");
    history_set_tags(history, 1, json_array());
    history_delete(history, 1);
    ck_assert(!history_read(history, 1, 10, &events, &points, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
    history_stop(history);
}
END_TEST

/* By an engine that leaves a hanging thread behind: what that still says is not written. */
START_TEST(finishing_writes_all)
{
    struct history *history = start_afresh();
    put_run(history, 1, "running");
    add_events(history, 1, 0, 200);
    history_finish(history, 60);
    check_events(1, 200);
    add_events(history, 1, 200, 1);
    history_stop(history);
    check_events(1, 200);
}
END_TEST

START_TEST(readers_know_whether_somebody_writes)
{
    struct error err = ERROR_INIT;
    struct store *reader;
    struct history *history = start_afresh();
    ck_assert_msg(store_open_reading(path, &reader, &err), "%s", err.text);
    ck_assert(store_has_writer(reader));
    ck_assert(store_has_writer(reader)); /* looking changes nothing */
    history_stop(history);
    ck_assert(!store_has_writer(reader));
    history_stop(start_afresh());
    store_close(reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history writer");
    TCase *tests = tcase_create("history writer");
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
