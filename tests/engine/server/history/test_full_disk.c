/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "engine/server/history/backlog.h"
#include "store/read.h"
#include "tests/engine/server/history/fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/* What becomes of runs while a disk takes nothing. */

#define LITTLE_SPACE (256 << 10)

/*
 * As a disk that is full: no file grows beyond what Check's own file of this test may need. Each
 * test is its own process.
 */
static void set_disk_full(bool full)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = full ? LITTLE_SPACE : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(a_full_disk_delays_and_loses_nothing)
{
    struct history *history = start_afresh();
    put_run(history, 1, "running");
    set_disk_full(true);
    add_events(history, 1, 0, 4000);
    wait_told("runs continue and are stored once writing works again");
    add_events(history, 1, 4000, 300);
    set_disk_full(false);
    wait_told("runs are kept again");
    add_events(history, 1, 4300, 10);
    history_stop(history);
    check_events(1, 4310);
    /* Once, however often it was tried. */
    ck_assert_int_eq(told("runs continue"), 1);
    ck_assert_int_eq(told("are lost"), 0);
}
END_TEST

/* A run is in the store; from then on nothing gets there: a first event is too large by itself. */
static struct history *start_on_full_disk(void)
{
    struct history *history = start_afresh();
    put_run(history, 1, "done");
    history_stop(history);
    struct stored_runs past;
    history = start(&past);
    json_decref(past.runs);
    set_disk_full(true);
    char *large = format("{\"event\":\"warning\",\"text\":\"0 %0*d\"}", 2 * LITTLE_SPACE, 0);
    history_add_event(history, 1, "warning", large);
    free(large);
    wait_told("runs continue and are stored");
    return history;
}

START_TEST(what_waits_for_a_full_disk_is_limited)
{
    struct history *history = start_on_full_disk();
    add_events(history, 1, 1, 4999);
    /* With those the history writer has tried already: 100 more than may wait. */
    add_events(history, 1, 5000, BACKLOG_OTHERS - 5000 + 100);
    /* How runs stand is not lost: the newest of it, of each; nor are their ends. */
    put_run(history, 1, "running");
    put_run(history, 2, "queued");
    put_run(history, 1, "failed");
    put_run(history, 2, "done");
    history_add_event(history, 2, "end", "{\"event\":\"end\"}");
    set_disk_full(false);
    history_stop(history);
    check_events(1, BACKLOG_OTHERS);
    check_status(1, "failed");
    check_status(2, "done");
    ck_assert_int_eq(count_events(2, "end"), 1);
    ck_assert_int_eq(told("100 events are lost: too many wait"), 1);
}
END_TEST

#define MANY_EPOCHS 100000
#define BEST_EPOCH  77777

/* Those that stay of MANY_EPOCHS, by the rule of thinning.h, and the newest, not thinned yet. */
START_TEST(epochs_that_wait_too_long_are_thinned)
{
    struct history *history = start_on_full_disk();
    for (long epoch = 1; epoch <= MANY_EPOCHS; epoch++)
        add_epoch(history, 1, epoch, epoch == BEST_EPOCH ? 0.9 : 0.5);
    put_run(history, 1, "done");
    history_add_event(history, 1, "end", "{\"event\":\"end\"}");
    set_disk_full(false);
    history_stop(history);
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *epochs;
    ck_assert_msg(store_events(store, 1, "epoch", &epochs, &err), "%s", err.text);
    size_t count = json_array_size(epochs);
    ck_assert_uint_le(count, BACKLOG_EPOCHS);
    ck_assert_uint_ge(count, BACKLOG_EPOCHS / 4);
    long before = 0, widest = 0;
    bool best = false;
    for (size_t i = 0; i < count; i++) {
        long epoch = (long)json_integer_value(json_object_get(json_array_get(epochs, i), "epoch"));
        best |= epoch == BEST_EPOCH;
        widest = epoch - before > widest ? epoch - before : widest;
        if (i == 0)
            ck_assert_int_eq(epoch, 1);
        before = epoch;
    }
    ck_assert_int_eq(before, MANY_EPOCHS);
    ck_assert(best);
    /* An even curve: by twice the stride that would do. */
    ck_assert_int_le(widest, 16);
    json_decref(epochs);
    store_close(store);
    ck_assert_int_eq(count_events(1, "end"), 1);
    check_status(1, "done");
    ck_assert_int_eq(told("epochs are left out"), 1);
    ck_assert_int_eq(told("are lost"), 0);
}
END_TEST

/* How a run ended goes before all that waits, into what little room there is. */
START_TEST(a_full_disk_takes_how_runs_ended)
{
    struct history *history = start_on_full_disk();
    put_run(history, 1, "failed");
    history_add_event(history, 1, "end", "{\"event\":\"end\"}");
    history_stop(history);
    check_status(1, "failed");
    ck_assert_int_eq(count_events(1, "end"), 1);
    ck_assert_int_eq(count_events(1, "warning"), 0);
    struct stored_runs past;
    history = start(&past);
    ck_assert_int_eq(told("was interrupted"), 0);
    json_decref(past.runs);
    history_stop(history);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("full disk");
    TCase *tests = tcase_create("full disk");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_full_disk_delays_and_loses_nothing);
    tcase_add_test(tests, what_waits_for_a_full_disk_is_limited);
    tcase_add_test(tests, epochs_that_wait_too_long_are_thinned);
    tcase_add_test(tests, a_full_disk_takes_how_runs_ended);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
