/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/database.h"
#include "store/list.h"
#include "store/read.h"
#include "store/write.h"
#include "tests/src/store/store_case.h"
#include "tests/src/store/store_show.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The run store: what it keeps, how it is searched, and what it survives. */

START_TEST(a_run_comes_back_as_it_was_kept)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    put_run(store, 12, "running", "lenet", 1000);
    json_t *environment = json_pack("{s:s}", "host", "tower");
    json_t *object = run_object(12, "done", "lenet", 1000);
    must(store_put_run(store, object, NULL, environment, &err));
    add_event(store, 12, "run", "{\"event\":\"run\"}");
    add_event(store, 12, "epoch", "{\"event\":\"epoch\",\"epoch\":1,\"devices\":[{\"rows\":5}]}");
    add_event(store, 12, "retune", "{\"event\":\"retune\",\"what\":\"lr\"}");
    add_event(store, 12, "shares", "{\"event\":\"shares\"}");
    json_t *points = json_pack("[{s:s, s:f, s:i, s:i, s:i, s:f, s:n, s:f, s:f}]", "event", "point",
                               "epoch", 0.5, "step", 4, "steps", 4, "rows", 100, "train_loss", 0.25,
                               "train_acc", "samples_per_s", 100.0, "lr", 0.1);
    must(store_add_point(store, 12, json_array_get(points, 0), &err));
    json_t *tags = json_pack("[s,s]", "paper", "baseline");
    must(store_set_tags(store, 12, tags, &err));
    store_close(store);
    struct store *reader = NULL;
    json_t *shown = NULL;
    must(store_open_reading(path, &reader, &err));
    must(store_show(reader, 12, &shown, &err));
    json_t *expected = json_deep_copy(object);
    json_object_set_new(expected, "spec", json_pack("{s:i}", "seed", 7));
    json_object_set(expected, "environment", environment);
    json_object_set_new(
        expected, "epochs",
        json_loads("[{\"event\":\"epoch\",\"epoch\":1,\"devices\":[{\"rows\":5}]}]", 0, NULL));
    json_object_set_new(expected, "device_figures", json_loads("[{\"rows\":5}]", 0, NULL));
    json_object_set(expected, "points", points);
    json_object_set_new(expected, "retunes",
                        json_loads("[{\"event\":\"retune\",\"what\":\"lr\"}]", 0, NULL));
    json_object_set_new(expected, "events", json_loads("[{\"event\":\"shares\"}]", 0, NULL));
    json_object_set_new(expected, "tags", json_pack("[s,s]", "baseline", "paper"));
    char *got = json_dumps(shown, JSON_SORT_KEYS), *want = json_dumps(expected, JSON_SORT_KEYS);
    ck_assert_str_eq(got, want);
    free(got);
    free(want);
    ck_assert(!store_show(reader, 13, &shown, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
    ck_assert_str_eq(err.text, "there is no run 13");
    json_decref(shown);
    json_decref(expected);
    json_decref(tags);
    json_decref(points);
    json_decref(object);
    json_decref(environment);
    store_close(reader);
}
END_TEST

START_TEST(runs_are_found_by_what_is_known_of_them)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    json_t *tags = json_pack("[s]", "Thesis");
    put_run(store, 1, "done", "lenet", 1000);
    put_run(store, 2, "failed", "resnet18", 2000);
    put_run(store, 3, "done", "resnet18", 3000);
    must(store_set_tags(store, 2, tags, &err));
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN}, "1 2 3");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .limit = 2}, "2 3");
    check_list(store, &(struct store_filter){.since = 2000, .until = NAN}, "2 3");
    check_list(store, &(struct store_filter){.since = NAN, .until = 2000}, "1");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .model = "ResNet18"},
               "2 3");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .model = "resnet"}, "");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .devices = "cpu:0-1"},
               "1 2 3");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .status = "failed"}, "2");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .tag = "thesis"}, "2");
    check_list(store,
               &(struct store_filter){.since = NAN, .until = NAN, .words = " res  WARM done"}, "3");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .words = "thes%"}, "");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .words = "thesis"}, "2");
    json_t *two = json_pack("[i]", 2);
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .without = two}, "1 3");
    json_decref(two);
    json_decref(tags);
    store_close(store);
}
END_TEST

START_TEST(runs_that_nobody_trains_count_as_interrupted)
{
    struct store *store = open_store();
    struct store_filter filter = STORE_FILTER_INIT;
    put_run(store, 1, "running", "lenet", 1000);
    put_run(store, 2, "done", "lenet", 2000);
    filter.status = "interrupted";
    check_list(store, &filter, "");
    filter.interrupted = true;
    check_list(store, &filter, "1");
    filter.status = NULL;
    filter.words = "interrupted";
    check_list(store, &filter, "1");
    store_close(store);
}
END_TEST

START_TEST(numbers_are_not_given_again)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    long last = -1;
    must(store_last_number(store, &last, &err));
    ck_assert_int_eq(last, 0);
    put_run(store, 7, "done", "lenet", 1);
    add_event(store, 7, "epoch", "{}");
    must(store_delete_run(store, 7, &err));
    must(store_last_number(store, &last, &err));
    ck_assert_int_eq(last, 7);
    json_t *events = NULL;
    must(store_events(store, 7, NULL, &events, &err));
    ck_assert_uint_eq(json_array_size(events), 0);
    json_decref(events);
    ck_assert(!store_delete_run(store, 7, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
    store_close(store);
}
END_TEST

START_TEST(what_a_crash_left_is_interrupted)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    json_t *numbers = NULL, *shown = NULL;
    put_run(store, 1, "done", "lenet", 1);
    put_run(store, 2, "paused", "lenet", 1);
    put_run(store, 3, "queued", "lenet", 1);
    must(store_interrupt(store, "the engine was killed", &numbers, &err));
    char *text = json_dumps(numbers, JSON_COMPACT);
    ck_assert_str_eq(text, "[2,3]");
    free(text);
    must(store_show(store, 2, &shown, &err));
    ck_assert_str_eq(json_string_value(json_object_get(shown, "status")), "interrupted");
    ck_assert_str_eq(json_string_value(json_object_get(shown, "error")), "the engine was killed");
    json_decref(shown);
    json_decref(numbers);
    must(store_interrupt(store, "again", &numbers, &err));
    ck_assert_uint_eq(json_array_size(numbers), 0);
    json_decref(numbers);
    store_close(store);
}
END_TEST

START_TEST(a_transaction_is_kept_whole_or_not_at_all)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    must(store_begin(store, &err));
    put_run(store, 1, "done", "lenet", 1);
    store_rollback(store);
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN}, "");
    must(store_begin(store, &err));
    put_run(store, 1, "done", "lenet", 1);
    json_t *bad = json_pack("[{s:i, s:i}, {s:i, s:s}]", "step", 1, "steps", 1, "step", 2, "lr",
                            "not a number");
    must(store_set_points(store, 1, bad, &err));
    must(store_commit(store, &err));
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN}, "1");
    json_decref(bad);
    store_close(store);
}
END_TEST

START_TEST(one_writer_and_any_number_of_readers)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store(), *second = NULL, *reader = NULL;
    char notice[100], expected[40];
    ck_assert(!store_open(path, &second, notice, sizeof notice, &err));
    snprintf(expected, sizeof expected, "(pid %ld)", (long)getpid());
    ck_assert_msg(strstr(err.text, expected) != NULL, "%s", err.text);
    must(store_open_reading(path, &reader, &err));
    must(store_begin(store, &err));
    put_run(store, 1, "done", "lenet", 1);
    check_list(reader, &(struct store_filter){.since = NAN, .until = NAN}, "");
    must(store_commit(store, &err));
    check_list(reader, &(struct store_filter){.since = NAN, .until = NAN}, "1");
    store_close(reader);
    store_close(store);
    store_close(open_store());
}
END_TEST

/* One run's damage is not everybody's. */
START_TEST(a_damaged_run_is_interrupted_too)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    json_t *runs = NULL;
    put_run(store, 1, "running", "lenet", 1);
    put_run(store, 2, "running", "lenet", 2);
    must(store_exec(store, "UPDATE runs SET object = '{' WHERE number = 1", "", &err));
    must(store_interrupt(store, "gone", &runs, &err));
    ck_assert_uint_eq(json_array_size(runs), 2);
    json_decref(runs);
    must(store_interrupt(store, "gone", &runs, &err));
    ck_assert_uint_eq(json_array_size(runs), 0);
    json_decref(runs);
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .status = "interrupted"},
               "2");
    store_close(store);
}
END_TEST

/* Nor does a damaged run take the place of a whole one in a limited list. */
START_TEST(a_damaged_run_takes_no_place_of_a_limit)
{
    struct error err = ERROR_INIT;
    char text[640];
    struct store *store = open_store();
    for (long number = 1; number <= 6; number++)
        put_run(store, number, "done", "lenet", (double)number);
    must(store_exec(store, "UPDATE runs SET object = 'cut' WHERE number IN (3, 5, 6)", "", &err));
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .limit = 1}, "4");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .limit = 2}, "2 4");
    check_list(store, &(struct store_filter){.since = NAN, .until = NAN, .limit = 9}, "1 2 4");
    ck_assert(store_list_unread(store, text, sizeof text));
    ck_assert_msg(strstr(text, "3 runs cannot be read, the first is run 3: "), "%s", text);
    check_list(
        store,
        &(struct store_filter){
            .since = NAN, .until = NAN, .limit = 1, .sort = "submitted_at", .descending = true},
        "4");
    store_close(store);
}
END_TEST

/* Writes runs with an event each until it is killed; tells how far it has come. */
static void write_for_ever(int progress)
{
    struct store *store = open_store();
    for (long number = 1;; number++) {
        struct error err = ERROR_INIT;
        must(store_begin(store, &err));
        put_run(store, number, "running", "lenet", 1);
        add_event(store, number, "epoch", "{\"event\":\"epoch\"}");
        must(store_commit(store, &err));
        if (write(progress, &number, sizeof number) != sizeof number)
            _exit(1);
    }
}

START_TEST(a_killed_writer_loses_nothing_that_was_committed)
{
    int ends[2];
    struct error err = ERROR_INIT;
    for (int round = 0; round < 5; round++) {
        ck_assert_int_eq(pipe(ends), 0);
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            write_for_ever(ends[1]);
        close(ends[1]);
        long told = 0, number;
        for (int i = 0; i <= 20 * round; i++)
            ck_assert_int_eq(read(ends[0], &told, sizeof told), sizeof told);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(ends[0], &number, sizeof number) == sizeof number)
            told = number;
        close(ends[0]);
        struct store *store = open_store();
        json_t *runs = NULL;
        must(store_list(store, &(struct store_filter){.since = NAN, .until = NAN}, false, &runs,
                        &err));
        ck_assert_int_ge((long)json_array_size(runs), told);
        for (long i = 1; i <= (long)json_array_size(runs); i++) {
            json_t *events = NULL;
            must(store_events(store, i, "epoch", &events, &err));
            ck_assert_int_ge((long)json_array_size(events), 1);
            json_decref(events);
        }
        json_decref(runs);
        store_close(store);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *tests = tcase_create("store");
    tcase_add_checked_fixture(tests, store_setup, store_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_run_comes_back_as_it_was_kept);
    tcase_add_test(tests, runs_are_found_by_what_is_known_of_them);
    tcase_add_test(tests, runs_that_nobody_trains_count_as_interrupted);
    tcase_add_test(tests, numbers_are_not_given_again);
    tcase_add_test(tests, what_a_crash_left_is_interrupted);
    tcase_add_test(tests, a_transaction_is_kept_whole_or_not_at_all);
    tcase_add_test(tests, one_writer_and_any_number_of_readers);
    tcase_add_test(tests, a_damaged_run_is_interrupted_too);
    tcase_add_test(tests, a_damaged_run_takes_no_place_of_a_limit);
    tcase_add_test(tests, a_killed_writer_loses_nothing_that_was_committed);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
