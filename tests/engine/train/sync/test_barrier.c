/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/train/step/worker.h"
#include "engine/train/sync/barrier.h"
#include "tests/suites.h"

/* A barrier and worker threads: eight parties on however few cores there are. */

enum { PARTIES = 8, ROUNDS = 300 };

static const char *const names[PARTIES] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};

struct scene {
    struct barrier *barrier;
    int rounds, leaver; /* the leaver stays away from round `rounds` on */
    int counters[PARTIES];
    double sums[PARTIES][3];
    double waited[PARTIES];
    atomic_int closed, abandoned;
    atomic_bool hold, hold_close;
    pthread_t threads[PARTIES];
    bool signals_blocked[PARTIES];
    char thread_names[PARTIES][16];
};

static void close_rank(void *context, int rank)
{
    struct scene *scene = context;
    scene->counters[rank] = -1;
    while (rank == 1 && atomic_load(&scene->hold_close))
        usleep(1000);
    atomic_fetch_add(&scene->closed, 1);
}

static void abandoned(void *context)
{
    struct scene *scene = context;
    atomic_store(&scene->abandoned, 1);
}

static struct workers *start(struct scene *scene, int count)
{
    struct workers *workers;
    struct error err = ERROR_INIT;
    struct worker_tasks tasks = {.context = scene,
                                 .close = close_rank,
                                 .abandoned = abandoned,
                                 .spin_s = count % 2 ? 0 : 1e-3};
    ck_assert_msg(workers_start(count, names, &tasks, &workers, &err), "%s", err.text);
    return workers;
}

static void meet(struct scene *scene, int count, double limit_s, bool spin)
{
    struct error err = ERROR_INIT;
    ck_assert_msg(barrier_create(count, names, limit_s, spin, &scene->barrier, &err), "%s",
                  err.text);
}

/* Everybody's counter must show the same round between two barriers. */
static bool count_rounds(void *context, int rank, struct error *err)
{
    struct scene *scene = context;
    for (int round = 1; round <= scene->rounds; round++) {
        scene->counters[rank] = round;
        if (!barrier_wait(scene->barrier, rank, &scene->waited[rank], err))
            return false;
        for (int i = 0; i < PARTIES; i++)
            if (scene->counters[i] != round)
                return error_set(err, ERROR_FAILED, "%d sees round %d of %d in round %d", rank,
                                 scene->counters[i], i, round);
        if (!barrier_wait(scene->barrier, rank, &scene->waited[rank], err))
            return false;
    }
    return true;
}

START_TEST(barrier_holds)
{
    struct scene scene = {.rounds = ROUNDS};
    struct error err = ERROR_INIT;
    meet(&scene, PARTIES, 60, _i);
    struct workers *workers = start(&scene, PARTIES);
    workers_post(workers, count_rounds);
    ck_assert(workers_wait(workers, 60));
    for (int i = 0; i < PARTIES; i++) {
        ck_assert_msg(workers_result(workers, i, &err), "%s", err.text);
        ck_assert(scene.waited[i] > 0);
    }
    ck_assert(workers_dismiss(workers, 60));
    ck_assert_int_eq(atomic_load(&scene.closed), PARTIES);
    barrier_destroy(scene.barrier);
}
END_TEST

static double term(int rank, int round, int at)
{
    return 1.0 / (3 + rank + 7 * round) + 1e9 * (at == rank % 3);
}

static bool sum_rounds(void *context, int rank, struct error *err)
{
    struct scene *scene = context;
    for (int round = 0; round < ROUNDS; round++) {
        double values[3], *sums = scene->sums[rank];
        /* Lengths change from round to round; 0 takes no part. */
        size_t count = (size_t)round % 4;
        for (size_t at = 0; at < count; at++)
            values[at] = term(rank, round, (int)at);
        if (!barrier_sum(scene->barrier, rank, values, count, &scene->waited[rank], err))
            return false;
        for (size_t at = 0; at < count; at++) {
            double expected = term(0, round, (int)at);
            for (int i = 1; i < PARTIES; i++)
                expected += term(i, round, (int)at);
            if (values[at] != expected)
                return error_set(err, ERROR_FAILED, "round %d: %.17g is not %.17g", round,
                                 values[at], expected);
            sums[at] += values[at];
        }
    }
    return true;
}

START_TEST(sums_are_bit_equal_and_in_order)
{
    struct scene scene = {.rounds = ROUNDS};
    struct error err = ERROR_INIT;
    meet(&scene, PARTIES, 60, false);
    struct workers *workers = start(&scene, PARTIES);
    workers_post(workers, sum_rounds);
    ck_assert(workers_wait(workers, 60));
    for (int i = 0; i < PARTIES; i++) {
        ck_assert_msg(workers_result(workers, i, &err), "%s", err.text);
        ck_assert_mem_eq(scene.sums[i], scene.sums[0], sizeof scene.sums[0]);
    }
    ck_assert(workers_dismiss(workers, 60));
    barrier_destroy(scene.barrier);
}
END_TEST

static bool unequal_sum(void *context, int rank, struct error *err)
{
    struct scene *scene = context;
    double values[4] = {0};
    return barrier_sum(scene->barrier, rank, values, rank == 1 ? 3 : 4, &scene->waited[rank], err);
}

START_TEST(sum_refuses_unequal_lengths)
{
    struct scene scene = {0};
    struct error err = ERROR_INIT;
    meet(&scene, 2, 60, false);
    struct workers *workers = start(&scene, 2);
    workers_post(workers, unequal_sum);
    ck_assert(workers_wait(workers, 60));
    ck_assert(!workers_result(workers, 0, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "d1"));
    ck_assert(!workers_result(workers, 1, &err));
    ck_assert(workers_dismiss(workers, 60));
    barrier_destroy(scene.barrier);
}
END_TEST

static bool leave_one(void *context, int rank, struct error *err)
{
    struct scene *scene = context;
    return rank == scene->leaver || barrier_wait(scene->barrier, rank, &scene->waited[rank], err);
}

START_TEST(abort_wakes_everybody_with_the_reason)
{
    struct scene scene = {.leaver = 3};
    struct error err = ERROR_INIT, reason = ERROR_INIT, later = ERROR_INIT;
    error_set(&reason, ERROR_CANCELLED, "enough");
    error_set(&later, ERROR_FAILED, "too late");
    meet(&scene, PARTIES, 60, _i);
    struct workers *workers = start(&scene, PARTIES);
    workers_post(workers, leave_one);
    ck_assert(!workers_wait(workers, 0.02));
    int culprit = 0;
    ck_assert(!barrier_aborted(scene.barrier, &culprit, &err));
    barrier_abort(scene.barrier, -1, &reason);
    barrier_abort(scene.barrier, 2, &later);
    ck_assert(barrier_aborted(scene.barrier, &culprit, &err));
    ck_assert_int_eq(culprit, -1);
    ck_assert(workers_wait(workers, 60));
    for (int i = 0; i < PARTIES; i++) {
        ck_assert_int_eq(workers_result(workers, i, &err), i == scene.leaver);
        if (i != scene.leaver) {
            ck_assert_str_eq(err.text, "enough");
            ck_assert_int_eq(err.kind, ERROR_CANCELLED);
        }
    }
    /* Who comes later hears it too. */
    double waited = 0;
    ck_assert(!barrier_wait(scene.barrier, 3, &waited, &err));
    ck_assert_str_eq(err.text, "enough");
    ck_assert(workers_dismiss(workers, 60));
    barrier_destroy(scene.barrier);
}
END_TEST

START_TEST(deadline_names_the_missing)
{
    struct scene scene = {.leaver = 5};
    struct error err = ERROR_INIT;
    meet(&scene, PARTIES, 0.05, false);
    struct workers *workers = start(&scene, PARTIES);
    workers_post(workers, leave_one);
    ck_assert(workers_wait(workers, 60));
    ck_assert(!workers_result(workers, 0, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "of waiting for d5"));
    ck_assert(workers_dismiss(workers, 60));
    barrier_destroy(scene.barrier);
}
END_TEST

static bool look_around(void *context, int rank, struct error *err)
{
    struct scene *scene = context;
    sigset_t set;
    pthread_t self = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    scene->signals_blocked[rank] = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) &&
                                   sigismember(&set, SIGHUP) && !sigismember(&set, SIGSEGV);
    pthread_getname_np(self, scene->thread_names[rank], sizeof scene->thread_names[rank]);
    if (scene->counters[rank]++ && !pthread_equal(scene->threads[rank], self))
        return error_set(err, ERROR_FAILED, "another thread");
    scene->threads[rank] = self;
    return rank != 2 || error_set(err, ERROR_FAILED, "two fails");
}

START_TEST(tasks_stay_on_their_thread)
{
    struct scene scene = {0};
    struct error err = ERROR_INIT;
    struct workers *workers = start(&scene, 4);
    for (int round = 0; round < 50; round++) {
        workers_post(workers, look_around);
        ck_assert(workers_wait(workers, 60));
        for (int i = 0; i < 4; i++) {
            ck_assert(workers_finished(workers, i));
            ck_assert_int_eq(workers_result(workers, i, &err), i != 2);
        }
        ck_assert_str_eq(err.text, "two fails");
    }
    for (int i = 0; i < 4; i++) {
        ck_assert(scene.signals_blocked[i]);
        ck_assert_str_eq(scene.thread_names[i], names[i]);
    }
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    ck_assert(!sigismember(&set, SIGINT));
    ck_assert(workers_dismiss(workers, 60));
    ck_assert_int_eq(atomic_load(&scene.abandoned), 0);
}
END_TEST

static bool hang(void *context, int rank, struct error *err)
{
    struct scene *scene = context;
    (void)err;
    while (rank == 1 && atomic_load(&scene->hold))
        usleep(1000);
    return true;
}

START_TEST(hanging_thread_is_left_behind)
{
    struct scene scene = {0};
    struct workers *workers = start(&scene, 3);
    atomic_store(&scene.hold, true);
    workers_post(workers, hang);
    ck_assert(!workers_wait(workers, 0.05));
    ck_assert(workers_finished(workers, 0));
    ck_assert(!workers_finished(workers, 1));
    ck_assert(!workers_dismiss(workers, 60));
    /* Nobody closes while the third may still look at the others. */
    usleep(20000);
    ck_assert_int_eq(atomic_load(&scene.closed), 0);
    atomic_store(&scene.hold, false);
    double end = clock_seconds() + 60;
    while (!atomic_load(&scene.abandoned) && clock_seconds() < end)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&scene.abandoned), 1);
    ck_assert_int_eq(atomic_load(&scene.closed), 3);
}
END_TEST

/* A device whose driver hangs while its memory is given back. */
START_TEST(thread_that_hangs_in_closing_is_left_behind)
{
    struct scene scene = {0};
    struct workers *workers = start(&scene, 3);
    atomic_store(&scene.hold_close, true);
    ck_assert(!workers_dismiss(workers, 0.05));
    ck_assert_int_eq(atomic_load(&scene.abandoned), 0);
    atomic_store(&scene.hold_close, false);
    double end = clock_seconds() + 60;
    while (!atomic_load(&scene.abandoned) && clock_seconds() < end)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&scene.abandoned), 1);
    ck_assert_int_eq(atomic_load(&scene.closed), 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("barrier");
    TCase *tcase = tcase_create("barrier");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, barrier_holds, 0, 2);
    tcase_add_test(tcase, sums_are_bit_equal_and_in_order);
    tcase_add_test(tcase, sum_refuses_unequal_lengths);
    tcase_add_loop_test(tcase, abort_wakes_everybody_with_the_reason, 0, 2);
    tcase_add_test(tcase, deadline_names_the_missing);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("workers");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, tasks_stay_on_their_thread);
    tcase_add_test(tcase, hanging_thread_is_left_behind);
    tcase_add_test(tcase, thread_that_hangs_in_closing_is_left_behind);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
