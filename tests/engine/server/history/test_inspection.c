/* SPDX-License-Identifier: MIT */
/* Stores that a killed engine left are read through while the next one is already in use. */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "engine/server/history/writer.h"
#include "store/doubt.h"
#include "store/rescue/inspect.h"
#include "store/store.h"
#include "store/write.h"
#include "tests/suites.h"
#include "tests/support.h"

#define PATIENCE_S 120

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

static struct store *open_store(char *notice, size_t size)
{
    struct store *store = NULL;
    struct error err = ERROR_INIT;
    ck_assert_msg(store_open(path, &store, notice, size, &err), "%s", err.text);
    return store;
}

/* A store with one run and many pages of events. */
static void make_store(void)
{
    struct error err = ERROR_INIT;
    char notice[300], event[4000];
    struct store *store = open_store(notice, sizeof notice);
    json_t *object = json_pack("{s:i, s:s, s:s, s:f}", "run", 1, "status", "done", "model",
                               "linear", "submitted_at", 1.7e9);
    ck_assert(store_put_run(store, object, NULL, NULL, &err));
    json_decref(object);
    memset(event, 'x', sizeof event - 1);
    event[sizeof event - 1] = '\0';
    ck_assert(store_begin(store, &err));
    for (int i = 0; i < 200; i++)
        ck_assert(store_add_event(store, 1, "epoch", event, &err));
    ck_assert(store_commit(store, &err));
    store_close(store);
}

/* As after the end of its engine by a signal: a log without anything in it that counts. */
static void leave_log(void)
{
    static const char garbage[4096] = "no log";
    put_file(folder, "runs.db-wal", garbage, sizeof garbage);
}

/* In the middle of the file, which has at most `limit` bytes. */
static void spoil(size_t limit)
{
    struct error err = ERROR_INIT;
    char *content;
    size_t length;
    ck_assert(file_read(path, limit, &content, &length, &err));
    memset(content + length / 2, 0x5a, 20000);
    put_file(folder, "runs.db", content, length);
    free(content);
}

/* Checking it takes long. */
static void enlarge_store(void)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(db, "UPDATE runs SET environment = zeroblob(100000000)", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
}

static bool was_said(const char *words)
{
    bool found = false;
    size_t index;
    const json_t *message;
    json_t *list = engine_log_newest(&messages, ENGINE_LOG_KEPT);
    json_array_foreach(list, index, message)
    {
        if (strstr(json_string_value(json_object_get(message, "text")), words))
            found = true;
    }
    json_decref(list);
    return found;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000L}, NULL);
}

static struct history *start_history(void)
{
    struct history *history;
    struct stored_runs past;
    history_start(path, &messages, &history, &past);
    ck_assert_ptr_nonnull(history);
    ck_assert_str_eq(past.notice, "");
    ck_assert_uint_eq(json_array_size(past.runs), 1);
    json_decref(past.runs);
    return history;
}

START_TEST(damage_is_found_while_the_engine_is_in_use)
{
    struct error err = ERROR_INIT;
    char notice[HISTORY_NOTICE] = "";
    json_t *run = NULL;
    make_store();
    spoil(1 << 24);
    leave_log();
    struct history *history = start_history();
    for (int i = 0; !was_said("is damaged") && i < PATIENCE_S * 100; i++)
        nap();
    ck_assert(was_said("is damaged"));
    ck_assert(was_said("'dpartui runs repair'"));
    /* It is passed on once. */
    for (int i = 0; !*notice && i < PATIENCE_S * 100; i++) {
        history_take_notice(history, notice);
        nap();
    }
    ck_assert_ptr_nonnull(strstr(notice, "is damaged"));
    *notice = '\0';
    history_take_notice(history, notice);
    ck_assert_str_eq(notice, "");
    /* What can be read is read, and what is new is written. */
    ck_assert(history_show(history, 1, &run, &err) || err.kind == ERROR_FAILED);
    json_decref(run);
    history_put_run(history, json_pack("{s:i, s:s}", "run", 2, "status", "done"), NULL, NULL);
    history_stop(history);
    ck_assert(store_is_doubted(path));
    store_close(open_store(notice, sizeof notice));
    ck_assert_ptr_nonnull(strstr(notice, "set aside"));
    ck_assert(!store_is_doubted(path));
}
END_TEST

START_TEST(a_whole_store_is_trusted_afterwards)
{
    char notice[HISTORY_NOTICE] = "";
    make_store();
    leave_log();
    struct history *history = start_history();
    for (int i = 0; store_is_unchecked(path) && i < PATIENCE_S * 100; i++)
        nap();
    ck_assert(!store_is_unchecked(path));
    ck_assert(!store_is_doubted(path));
    history_take_notice(history, notice);
    ck_assert_str_eq(notice, "");
    ck_assert(!was_said("is damaged"));
    history_stop(history);
    /* Ended in order: nothing is checked. */
    history_stop(start_history());
    ck_assert(!store_is_unchecked(path));
}
END_TEST

/* A damaged store is replaced by a good one while it is inspected: the history writer, once all is
 * as it stays; NULL where the damage was found earlier. */
static struct history *replace_damaged(void)
{
    struct error err = ERROR_INIT;
    char *content, *backup = format("%s/backup.db", folder);
    size_t length;
    make_store();
    ck_assert(file_read(path, 1 << 24, &content, &length, &err));
    put_file(folder, "backup.db", content, length);
    free(content);
    enlarge_store();
    spoil(200 << 20);
    leave_log();
    struct history *history = start_history();
    ck_assert_int_eq(rename(backup, path), 0);
    free(backup);
    for (int i = 0; !was_said("are stored there again") && i < PATIENCE_S * 100; i++)
        nap();
    for (int i = 0; store_is_unchecked(path) && i < PATIENCE_S * 100; i++)
        nap();
    /* Also by an inspection that nobody has ended. */
    for (int i = 0; !was_said("is damaged") && i < 300; i++)
        nap();
    if (!was_said("is damaged"))
        return history;
    history_stop(history);
    return NULL;
}

/* Nothing of what inspecting the damaged one finds is said of the new one, which is inspected
 * itself, as the mark demands. On a busy machine the damage may be found before the test gets to
 * replace the store: then once more. */
START_TEST(a_good_store_in_the_place_of_a_damaged_one_stays_trusted)
{
    char notice[HISTORY_NOTICE] = "";
    struct history *history = replace_damaged();
    for (int i = 0; !history && i < 9; i++) {
        teardown();
        setup();
        history = replace_damaged();
    }
    ck_assert_ptr_nonnull(history);
    ck_assert(!store_is_unchecked(path));
    ck_assert(!store_is_doubted(path));
    history_take_notice(history, notice);
    ck_assert_str_eq(notice, "");
    history_stop(history);
    ck_assert(!store_is_doubted(path));
}
END_TEST

/* Where the engine itself reads at its start: it sets the store aside at once. */
START_TEST(damage_that_is_met_at_the_start_loses_no_new_runs)
{
    struct error err = ERROR_INIT;
    struct history *history;
    struct stored_runs past;
    char *content;
    size_t length;
    sqlite3 *db;
    sqlite3_stmt *statement;
    make_store();
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT rootpage FROM sqlite_schema"
                                        " WHERE name = 'runs_by_status'",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    size_t page = (size_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    ck_assert(file_read(path, 1 << 24, &content, &length, &err));
    memset(content + 4096 * (page - 1), 0x5a, 4096);
    put_file(folder, "runs.db", content, length);
    free(content);
    leave_log();
    history_start(path, &messages, &history, &past);
    ck_assert_ptr_nonnull(history);
    ck_assert_ptr_nonnull(strstr(past.notice, "set aside"));
    json_decref(past.runs);
    history_put_run(history, json_pack("{s:i, s:s}", "run", 1, "status", "done"), NULL, NULL);
    history_stop(history);
    history_stop(start_history());
}
END_TEST

static void never(void *context, const char *text)
{
    (void)context;
    ck_abort_msg("%s", text);
}

/* Checking takes long; the end of the engine does not wait for it, and the next one starts over. */
START_TEST(an_inspection_that_is_ended_is_begun_anew)
{
    struct error err = ERROR_INIT;
    char notice[300];
    bool unchecked = false;
    make_store();
    enlarge_store();
    for (int i = 0; !unchecked && i < 5; i++) {
        struct store_inspection *inspection;
        leave_log();
        struct store *store = open_store(notice, sizeof notice);
        ck_assert_str_eq(notice, "");
        ck_assert(store_is_unchecked(path));
        ck_assert_msg(store_inspect_start(path, never, NULL, &inspection, &err), "%s", err.text);
        store_inspect_stop(inspection);
        unchecked = store_is_unchecked(path);
        store_close(store);
    }
    ck_assert(unchecked);
    store_close(open_store(notice, sizeof notice)); /* not even where another one ended in order */
    ck_assert(store_is_unchecked(path));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inspection");
    TCase *tests = tcase_create("store");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 2 * PATIENCE_S);
    tcase_add_test(tests, damage_is_found_while_the_engine_is_in_use);
    tcase_add_test(tests, damage_that_is_met_at_the_start_loses_no_new_runs);
    tcase_add_test(tests, a_whole_store_is_trusted_afterwards);
    tcase_add_test(tests, a_good_store_in_the_place_of_a_damaged_one_stays_trusted);
    tcase_add_test(tests, an_inspection_that_is_ended_is_begun_anew);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
