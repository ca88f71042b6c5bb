/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "engine/server/keeper.h"
#include "engine/store/store.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The thread that writes runs into the store, on disks that take them and disks that do not. */

#define THREADS      4
#define EACH         1500
#define CAN_WAIT     20000 /* as the keeper's limit */
#define LITTLE_SPACE (256 << 10)

static char *folder, *path;
static struct engine_log messages;

static void ignore(void *context)
{
    (void)context;
}

static void setup(void)
{
    folder = temporary_folder();
    path = format("%s/runs.db", folder);
    engine_log_begin(&messages, -1, ignore, NULL);
}

static void teardown(void)
{
    engine_log_end(&messages);
    free(path);
    remove_tree(folder);
}

static struct keeper *start(struct keeper_past *past)
{
    struct keeper *keeper;
    keeper_start(path, &messages, &keeper, past);
    ck_assert_ptr_nonnull(keeper);
    return keeper;
}

static struct keeper *start_afresh(void)
{
    struct keeper_past past;
    struct keeper *keeper = start(&past);
    ck_assert_int_eq(past.last_number, 0);
    json_decref(past.runs);
    return keeper;
}

static void put_run(struct keeper *keeper, long run, const char *status)
{
    keeper_put_run(keeper,
                   json_pack("{s:I, s:s, s:s, s:f}", "run", (json_int_t)run, "status", status,
                             "model", "linear", "submitted_at", 1.7e9),
                   json_pack("{s:s}", "model", "linear"), NULL);
}

static void add_events(struct keeper *keeper, long run, long first, long count)
{
    for (long i = first; i < first + count; i++) {
        char text[160];
        snprintf(text, sizeof text, "{\"event\":\"warning\",\"text\":\"%ld %0100d\"}", i, 0);
        keeper_add_event(keeper, run, "warning", text);
    }
}

static struct store *reader(void)
{
    struct store *store = NULL;
    struct error err = ERROR_INIT;
    ck_assert_msg(store_open_reading(path, &store, &err), "%s", err.text);
    return store;
}

/* The store has the events 0 to count - 1 of a run, in their order. */
static void check_events(long run, long count)
{
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *events;
    ck_assert_msg(store_events(store, run, NULL, &events, &err), "%s", err.text);
    ck_assert_int_eq((long)json_array_size(events), count);
    long right = 0; /* not an assertion each: Check writes a line for every one */
    for (long i = 0; i < count; i++) {
        const json_t *event = json_array_get(events, (size_t)i);
        const char *text = json_string_value(json_object_get(event, "text"));
        right += text && strtol(text, NULL, 10) == i;
    }
    ck_assert_int_eq(right, count);
    json_decref(events);
    store_close(store);
}

/* How many messages hold these words. */
static long told(const char *words)
{
    long count = 0;
    size_t index;
    const json_t *message;
    json_t *list = engine_log_newest(&messages, ENGINE_LOG_KEPT);
    json_array_foreach(list, index, message)
    {
        if (strstr(json_string_value(json_object_get(message, "text")), words))
            count++;
    }
    json_decref(list);
    return count;
}

static void wait_told(const char *words)
{
    for (int i = 0; i < 3000 && told(words) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert_msg(told(words) > 0, "nothing about: %s", words);
}

/*
 * As a disk that is full: no file grows beyond what Check's own file of this test may need. Each
 * test is a process of its own.
 */
static void set_disk_full(bool full)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = full ? LITTLE_SPACE : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

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
    add_events(keeper, 1, 7, 5);
    keeper_set_events(keeper, 1, json_pack("[{s:s,s:s}]", "event", "warning", "text", "0"));
    add_events(keeper, 1, 1, 2);
    keeper_set_tags(keeper, 1, json_pack("[s]", "old"));
    keeper_set_tags(keeper, 1, json_pack("[s,s]", "new", "thesis"));
    put_run(keeper, 2, "done");
    keeper_delete(keeper, 2);
    keeper_delete(keeper, 9); /* never was */
    keeper_add_event(keeper, 2, "warning", "{}");
    keeper_stop(keeper);
    check_events(1, 3);
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *run;
    ck_assert_msg(store_show(store, 1, &run, &err), "%s", err.text);
    ck_assert_uint_eq(json_array_size(json_object_get(run, "tags")), 2);
    json_decref(run);
    ck_assert(!store_show(store, 2, &run, &err));
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

START_TEST(a_full_disk_delays_and_loses_nothing)
{
    struct keeper *keeper = start_afresh();
    put_run(keeper, 1, "running");
    set_disk_full(true);
    add_events(keeper, 1, 0, 4000);
    wait_told("runs go on and are kept as soon as that is possible");
    add_events(keeper, 1, 4000, 300);
    set_disk_full(false);
    wait_told("runs are kept again");
    add_events(keeper, 1, 4300, 10);
    keeper_stop(keeper);
    check_events(1, 4310);
    /* Once, however often it was tried. */
    ck_assert_int_eq(told("runs go on"), 1);
    ck_assert_int_eq(told("are lost"), 0);
}
END_TEST

START_TEST(what_waits_for_a_full_disk_is_limited)
{
    struct keeper *keeper = start_afresh();
    put_run(keeper, 1, "done");
    keeper_stop(keeper);
    struct keeper_past past;
    keeper = start(&past);
    json_decref(past.runs);
    set_disk_full(true);
    /* Too large by itself, so that nothing behind it gets there either. */
    char *large = format("{\"event\":\"warning\",\"text\":\"0 %0*d\"}", 2 * LITTLE_SPACE, 0);
    keeper_add_event(keeper, 1, "warning", large);
    free(large);
    add_events(keeper, 1, 1, 4999);
    wait_told("runs go on and are kept");
    /* With those the keeper has tried already: 100 more than may wait. */
    add_events(keeper, 1, 5000, CAN_WAIT - 5000 + 100);
    set_disk_full(false);
    keeper_stop(keeper);
    check_events(1, CAN_WAIT);
    ck_assert_int_eq(told("100 events are lost: too many wait"), 1);
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
    keeper_set_events(keeper, 1, json_array());
    keeper_set_tags(keeper, 1, json_array());
    keeper_delete(keeper, 1);
    ck_assert(!keeper_read(keeper, 1, &events, &points, &err));
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
    tcase_add_test(tests, a_full_disk_delays_and_loses_nothing);
    tcase_add_test(tests, what_waits_for_a_full_disk_is_limited);
    tcase_add_test(tests, finishing_writes_all);
    tcase_add_test(tests, without_a_store_nothing_is_kept);
    tcase_add_test(tests, readers_know_whether_somebody_writes);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
