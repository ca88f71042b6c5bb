/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "engine/train/step/worker.h"
#include "engine/train/sync/barrier.h"
#include "tests/suites.h"

/* Eight threads on however few cores there are. */

enum { PARTIES = 8, ROUNDS = 300 };

static const char *const names[PARTIES] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};

struct scene {
    struct barrier *barrier;
    int rounds, leaver; /* the leaver stays away from round `rounds` on */
    int counters[PARTIES];
    double sums[PARTIES][3];
    double waited[PARTIES];
    bool ok[PARTIES];
    struct error errs[PARTIES];
};

static void conclude(void *context, int rank, bool ok, struct error *err)
{
    struct scene *scene = context;
    scene->ok[rank] = ok;
    scene->errs[rank] = *err;
}

static void close_rank(void *context, int rank)
{
    (void)context;
    (void)rank;
}

/* A barrier, and a thread for each party that runs the task. */
static struct workers *begin(struct scene *scene, int count, double limit_s, bool spin,
                             worker_task task)
{
    struct workers *workers;
    struct error err = ERROR_INIT;
    const struct worker_tasks tasks = {.context = scene, .conclude = conclude, .close = close_rank};
    ck_assert_msg(barrier_create(count, names, limit_s, spin, &scene->barrier, &err), "%s",
                  err.text);
    ck_assert_msg(workers_start(count, names, &tasks, &workers, &err), "%s", err.text);
    workers_post(workers, task);
    return workers;
}

static void end(struct scene *scene, struct workers *workers)
{
    ck_assert(workers_dismiss(workers, 60));
    barrier_destroy(scene->barrier);
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
    struct workers *workers = begin(&scene, PARTIES, 60, _i, count_rounds);
    ck_assert(workers_wait(workers, 60));
    for (int i = 0; i < PARTIES; i++) {
        ck_assert_msg(scene.ok[i], "%s", scene.errs[i].text);
        ck_assert(scene.waited[i] > 0);
    }
    end(&scene, workers);
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
    struct workers *workers = begin(&scene, PARTIES, 60, false, sum_rounds);
    ck_assert(workers_wait(workers, 60));
    for (int i = 0; i < PARTIES; i++) {
        ck_assert_msg(scene.ok[i], "%s", scene.errs[i].text);
        ck_assert_mem_eq(scene.sums[i], scene.sums[0], sizeof scene.sums[0]);
    }
    end(&scene, workers);
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
    struct workers *workers = begin(&scene, 2, 60, false, unequal_sum);
    ck_assert(workers_wait(workers, 60));
    ck_assert(!scene.ok[0]);
    ck_assert_ptr_nonnull(strstr(scene.errs[0].text, "d1"));
    ck_assert(!scene.ok[1]);
    end(&scene, workers);
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
    struct workers *workers = begin(&scene, PARTIES, 60, _i, leave_one);
    ck_assert(!workers_wait(workers, 0.02));
    int culprit = 0;
    ck_assert(!barrier_abort_reason(scene.barrier, &culprit, &err));
    barrier_abort(scene.barrier, -1, &reason);
    barrier_abort(scene.barrier, 2, &later);
    ck_assert(barrier_abort_reason(scene.barrier, &culprit, &err));
    ck_assert_int_eq(culprit, -1);
    ck_assert(workers_wait(workers, 60));
    for (int i = 0; i < PARTIES; i++) {
        ck_assert_int_eq(scene.ok[i], i == scene.leaver);
        if (i != scene.leaver) {
            ck_assert_str_eq(scene.errs[i].text, "enough");
            ck_assert_int_eq(scene.errs[i].kind, ERROR_CANCELLED);
        }
    }
    /* Who comes later gets it, too. */
    double waited = 0;
    ck_assert(!barrier_wait(scene.barrier, 3, &waited, &err));
    ck_assert_str_eq(err.text, "enough");
    end(&scene, workers);
}
END_TEST

START_TEST(deadline_names_the_missing)
{
    struct scene scene = {.leaver = 5};
    struct workers *workers = begin(&scene, PARTIES, 0.05, false, leave_one);
    ck_assert(workers_wait(workers, 60));
    ck_assert(!scene.ok[0]);
    ck_assert_ptr_nonnull(strstr(scene.errs[0].text, "of waiting for d5"));
    end(&scene, workers);
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
    return run_suites(suite, NULL);
}
