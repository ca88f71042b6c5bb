/* SPDX-License-Identifier: MIT */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "store/database.h"
#include "store/list.h"
#include "store/lock.h"
#include "store/read.h"
#include "store/write.h"
#include "tests/src/store/store_case.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Opening the run store: where it may lie, and what becomes of files that are damaged, older, newer
 * or none of ours. */

/* What version 1 kept is found by what version 2 has columns for. */
START_TEST(an_older_store_is_brought_up_to_date)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store(), *reader = NULL;
    json_t *object = run_object(1, "done", "lenet", 1000);
    json_object_set_new(object, "best_test_acc", json_real(0.5));
    must(store_put_run(store, object, NULL, NULL, &err));
    json_decref(object);
    put_run(store, 2, "done", "lenet", 2000);
    must(store_exec(store,
                    "UPDATE runs SET object = '{' WHERE number = 2; DROP INDEX runs_listed;"
                    "ALTER TABLE runs DROP COLUMN epochs_done;"
                    "ALTER TABLE runs DROP COLUMN best_test_acc;"
                    "ALTER TABLE runs DROP COLUMN device_count; PRAGMA user_version = 1",
                    "", &err));
    ck_assert(!store_open_reading(path, &reader, &err));
    ck_assert_msg(strstr(err.text, "older version") && strstr(err.text, "another engine"), "%s",
                  err.text);
    store_close(store);
    must(store_open_reading(path, &reader, &err));
    check_list(reader,
               &(struct store_filter){
                   .since = NAN, .until = NAN, .sort = "best_test_acc", .descending = true},
               "1");
    store_close(reader);
    store_close(open_store());
}
END_TEST

START_TEST(no_store_yet_is_no_failure)
{
    struct error err = ERROR_INIT;
    struct store *reader = NULL;
    ck_assert(!store_open_reading(path, &reader, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
}
END_TEST

/* Homes that are reached by links are normal where they lie on another disk. */
START_TEST(links_that_lead_to_the_folder_are_followed)
{
    struct error err = ERROR_INIT;
    struct store *store = NULL;
    char *real = format("%s/real", folder), *home = format("%s/home", folder);
    char *there = format("%s/data/runs.db", real), *here = format("%s/data/runs.db", home);
    ck_assert_int_eq(mkdir(real, 0700), 0);
    ck_assert_int_eq(symlink(real, home), 0);
    free(path);
    path = here;
    store = open_store();
    put_run(store, 1, "done", "lenet", 1);
    store_close(store);
    ck_assert_int_eq(access(there, F_OK), 0);
    must(store_open_reading(there, &store, &err));
    store_close(store);
    free(there);
    free(home);
    free(real);
}
END_TEST

static void refuse(const char *words)
{
    struct error err = ERROR_INIT;
    struct store *store = NULL;
    char notice[300];
    ck_assert(!store_open(path, &store, notice, sizeof notice, &err));
    ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

START_TEST(a_place_that_others_could_change_is_refused)
{
    char *data = format("%s/data", folder), *victim = format("%s/victim", folder);
    ck_assert_int_eq(mkdir(data, 0700), 0);
    ck_assert_int_eq(chmod(data, 0777), 0);
    refuse("all users may write here");
    ck_assert_int_eq(chmod(data, 0700), 0);
    ck_assert_int_eq(symlink(victim, path), 0);
    refuse("is a symbolic link");
    ck_assert_int_ne(access(victim, F_OK), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(chown(data, 65534, 65534), 0);
        refuse("belongs to another user");
    }
    free(victim);
    free(data);
}
END_TEST

static char *only_match(const char *pattern)
{
    glob_t found;
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    char *name = strdup(found.gl_pathv[0]);
    globfree(&found);
    return name;
}

static const char garbage[] = "this is somebody's letter and no data base, whatever its name says";

START_TEST(a_damaged_store_is_set_aside)
{
    struct error err = ERROR_INIT;
    struct store *store = NULL;
    char notice[500];
    size_t length = sizeof garbage;
    char *content = NULL;
    if (_i == 1) { /* a real one with a hole in its tables */
        store = open_store();
        put_run(store, 1, "done", "lenet", 1);
        store_close(store);
        must(file_read(path, 1 << 20, &content, &length, &err));
        memset(content + 100, 0x5a, length - 100);
    }
    put_file(folder, "data/runs.db", content ? content : garbage, length);
    json_t *runs = NULL;
    struct store_filter all = STORE_FILTER_INIT;
    ck_assert(!store_open_reading(path, &store, &err) ||
              !store_list(store, &all, false, &runs, &err));
    ck_assert_msg(strstr(err.text, _i == 0 ? "damaged" : "malformed") != NULL, "%s", err.text);
    store_close(store);
    must(store_open(path, &store, notice, sizeof notice, &err));
    char *pattern = format("%s.damaged-*", path), *aside = only_match(pattern);
    ck_assert_msg(strstr(notice, aside) != NULL, "%s", notice);
    char *kept = NULL;
    size_t kept_length;
    must(file_read(aside, 1 << 20, &kept, &kept_length, &err));
    ck_assert_uint_eq(kept_length, length);
    ck_assert_mem_eq(kept, content ? content : garbage, length);
    put_run(store, 1, "done", "lenet", 1);
    free(kept);
    free(aside);
    free(pattern);
    free(content);
    store_close(store);
}
END_TEST

/* The pages of an old run's events, which nobody reads in passing, are overwritten. */
static void spoil_middle(void)
{
    struct error err = ERROR_INIT;
    char *content, event[4000];
    size_t length;
    struct store *store = open_store();
    memset(event, 'x', sizeof event - 1);
    event[sizeof event - 1] = '\0';
    put_run(store, 1, "done", "lenet", 1);
    for (int i = 0; i < 200; i++)
        add_event(store, 1, "epoch", event);
    store_close(store);
    must(file_read(path, 1 << 24, &content, &length, &err));
    memset(content + length / 2, 0x5a, 20000);
    put_file(folder, "data/runs.db", content, length);
    free(content);
}

/* So that starting does not take longer with every run: everything is read only where damage was
 * met before. */
START_TEST(damage_is_looked_for_where_it_was_met)
{
    struct error err = ERROR_INIT;
    struct store *store;
    json_t *events = NULL;
    char notice[500], *mark = format("%s.check", path);
    spoil_middle();
    store_close(open_store()); /* ended in order: nothing looks */
    store = open_store();
    ck_assert(!store_events(store, 1, NULL, &events, &err));
    store_close(store);
    ck_assert_int_eq(access(mark, F_OK), 0);
    must(store_open(path, &store, notice, sizeof notice, &err));
    ck_assert_msg(strstr(notice, "damaged") != NULL, "%s", notice);
    store_close(store);
    ck_assert_int_ne(access(mark, F_OK), 0);
    store_close(open_store());
    free(mark);
}
END_TEST

START_TEST(an_emptied_store_is_reported)
{
    struct error err = ERROR_INIT;
    struct store *store;
    char notice[500];
    store_close(open_store());
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert(!store_open_reading(path, &store, &err));
    ck_assert_msg(err.kind == ERROR_FAILED && strstr(err.text, "0 bytes"), "%s", err.text);
    must(store_open(path, &store, notice, sizeof notice, &err));
    ck_assert_msg(strstr(notice, "0 bytes") != NULL, "%s", notice);
    store_close(store);
    store_close(open_store());
}
END_TEST

/* Tables of another program are none of ours, whatever they are called. */
START_TEST(a_file_of_another_program_is_set_aside)
{
    struct error err = ERROR_INIT;
    struct store *store = NULL;
    char notice[500];
    sqlite3 *other;
    char *data = format("%s/data", folder);
    ck_assert_int_eq(mkdir(data, 0700), 0);
    free(data);
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "CREATE TABLE runs (a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    ck_assert(!store_open_reading(path, &store, &err));
    ck_assert_msg(strstr(err.text, "no run store") != NULL, "%s", err.text);
    must(store_open(path, &store, notice, sizeof notice, &err));
    ck_assert_msg(strstr(notice, "set aside") != NULL, "%s", notice);
    store_close(store);
}
END_TEST

/* A store that another process brings up to date is waited for. */
START_TEST(who_brings_a_store_up_to_date_is_waited_for)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    int fd;
    store_close(store);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (!store_lock(path, &fd, &err))
            _exit(1);
        store_lock_sign(fd, 40);
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        _exit(0);
    }
    nanosleep(&(struct timespec){.tv_nsec = 300000000L}, NULL);
    store_close(open_store()); /* which an engine would have refused after a fifth of a second */
    waitpid(child, NULL, 0);
}
END_TEST

START_TEST(a_newer_store_is_left_alone)
{
    struct error err = ERROR_INIT;
    struct store *store = open_store();
    char notice[100];
    must(store_exec(store, "PRAGMA user_version = 99", "", &err));
    store_close(store);
    store = NULL;
    ck_assert(!store_open(path, &store, notice, sizeof notice, &err));
    ck_assert_msg(strstr(err.text, "newer version") != NULL, "%s", err.text);
    ck_assert(!store_open_reading(path, &store, &err));
    ck_assert_msg(strstr(err.text, "newer version") != NULL, "%s", err.text);
    ck_assert_ptr_null(store);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_opening");
    TCase *tests = tcase_create("store");
    tcase_add_checked_fixture(tests, store_setup, store_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, an_older_store_is_brought_up_to_date);
    tcase_add_test(tests, no_store_yet_is_no_failure);
    tcase_add_test(tests, links_that_lead_to_the_folder_are_followed);
    tcase_add_test(tests, a_place_that_others_could_change_is_refused);
    tcase_add_loop_test(tests, a_damaged_store_is_set_aside, 0, 2);
    tcase_add_test(tests, damage_is_looked_for_where_it_was_met);
    tcase_add_test(tests, an_emptied_store_is_reported);
    tcase_add_test(tests, a_file_of_another_program_is_set_aside);
    tcase_add_test(tests, who_brings_a_store_up_to_date_is_waited_for);
    tcase_add_test(tests, a_newer_store_is_left_alone);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
