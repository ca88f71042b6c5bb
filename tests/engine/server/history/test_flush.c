/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/server/history/writer.h"
#include "store/read.h"
#include "store/store.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Waiting until the run store is on disk, with disks that take it and disks that do not. */

#define LONG_S 3600.0 /* the test would be ended by its time limit */

static atomic_int syncs;

/* SQLite's calls come here: the program's symbols come before those of libraries. */
int fsync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

static char *folder, *path;
static struct engine_log messages;
static struct history *history;

static void ignore(void *context)
{
    (void)context;
}

static void setup(void)
{
    struct stored_runs past;
    folder = temporary_folder();
    path = format("%s/runs.db", folder);
    engine_log_begin(&messages, -1, ignore, NULL);
    history_start(path, &messages, &history, &past);
    ck_assert_ptr_nonnull(history);
    json_decref(past.runs);
    history_put_run(
        history, json_pack("{s:i, s:s, s:f}", "run", 1, "status", "running", "submitted_at", 1.7e9),
        NULL, NULL);
}

static void teardown(void)
{
    history_stop(history);
    engine_log_end(&messages);
    free(path);
    remove_tree(folder);
}

static void add_event(size_t length)
{
    char *text = format("{\"event\":\"epoch\",\"text\":\"%0*d\"}", (int)length, 0);
    history_add_event(history, 1, "epoch", text);
    free(text);
}

static size_t count_events(void)
{
    struct store *store;
    struct error err = ERROR_INIT;
    json_t *events;
    ck_assert_msg(store_open_reading(path, &store, &err), "%s", err.text);
    ck_assert_msg(store_events(store, 1, "epoch", &events, &err), "%s", err.text);
    size_t count = json_array_size(events);
    json_decref(events);
    store_close(store);
    return count;
}

/* A store that failed is tried again some seconds later. */
static void sync_at_last(void)
{
    struct error err = ERROR_INIT;
    while (!history_sync(history, LONG_S, &err)) {
        err = (struct error)ERROR_INIT;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

START_TEST(what_was_handed_over_is_on_disk)
{
    struct error err = ERROR_INIT;
    for (size_t i = 1; i <= 20; i++) {
        add_event(10);
        int before = syncs;
        ck_assert_msg(history_sync(history, LONG_S, &err), "%s", err.text);
        ck_assert_int_gt(syncs, before);
        ck_assert_uint_eq(count_events(), i);
    }
}
END_TEST

/* Also when all of it has been committed already, which does not sync. */
START_TEST(what_was_written_before_is_synced)
{
    struct error err = ERROR_INIT;
    add_event(10);
    while (count_events() < 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int before = syncs;
    ck_assert_msg(history_sync(history, LONG_S, &err), "%s", err.text);
    ck_assert_int_gt(syncs, before);
}
END_TEST

START_TEST(a_full_disk_is_said_and_not_waited_for)
{
    struct error err = ERROR_INIT;
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_msg(history_sync(history, LONG_S, &err), "%s", err.text);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit little = {256 << 10, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    add_event(600 << 10);
    for (int i = 0; i < 3; i++) {
        ck_assert(!history_sync(history, LONG_S, &err));
        ck_assert_msg(strstr(err.text, path) != NULL, "%s", err.text);
        err = (struct error)ERROR_INIT;
    }
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    sync_at_last();
    ck_assert_uint_eq(count_events(), 1);
}
END_TEST

START_TEST(a_store_that_hangs_is_waited_for_once)
{
    struct error err = ERROR_INIT;
    sqlite3 *other;
    ck_assert_msg(history_sync(history, LONG_S, &err), "%s", err.text);
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    add_event(10);
    ck_assert(!history_sync(history, 0.05, &err));
    ck_assert_msg(strstr(err.text, "has not answered for 0.05 s") != NULL, "%s", err.text);
    /* Fails again, without another wait; the store may have said more by now. */
    ck_assert(!history_sync(history, LONG_S, &err));
    sqlite3_close(other);
    sync_at_last();
    ck_assert_uint_eq(count_events(), 1);
}
END_TEST

START_TEST(nothing_is_on_disk_after_the_end)
{
    struct error err = ERROR_INIT;
    ck_assert(history_sync(NULL, LONG_S, &err));
    history_finish(history, LONG_S);
    ck_assert(!history_sync(history, LONG_S, &err));
    ck_assert_msg(strstr(err.text, "the engine ends") != NULL, "%s", err.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flush");
    TCase *tests = tcase_create("flush");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_was_handed_over_is_on_disk);
    tcase_add_test(tests, what_was_written_before_is_synced);
    tcase_add_test(tests, a_full_disk_is_said_and_not_waited_for);
    tcase_add_test(tests, a_store_that_hangs_is_waited_for_once);
    tcase_add_test(tests, nothing_is_on_disk_after_the_end);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
