/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/train/step/worker.h"
#include "tests/suites.h"

enum { WORKERS = 4 };

static const char *const names[WORKERS] = {"d0", "d1", "d2", "d3"};

struct scene {
    int tasks[WORKERS];
    bool ok[WORKERS];
    struct error err;
    atomic_int closed, abandoned;
    atomic_bool hold, hold_close;
    pthread_t threads[WORKERS];
    bool signals_blocked[WORKERS];
    char thread_names[WORKERS][16];
};

static void close_worker(void *context, int worker)
{
    struct scene *scene = context;
    while (worker == 1 && atomic_load(&scene->hold_close))
        usleep(1000);
    atomic_fetch_add(&scene->closed, 1);
}

static void conclude(void *context, int worker, bool ok, struct error *err)
{
    struct scene *scene = context;
    scene->ok[worker] = ok;
    if (!ok)
        scene->err = *err;
}

static void abandoned(void *context)
{
    struct scene *scene = context;
    atomic_store(&scene->abandoned, 1);
}

static struct workers *start(struct scene *scene, int count, double spin_s)
{
    struct workers *workers;
    struct error err = ERROR_INIT;
    const struct worker_tasks tasks = {.context = scene,
                                       .conclude = conclude,
                                       .close = close_worker,
                                       .abandoned = abandoned,
                                       .spin_s = spin_s};
    ck_assert_msg(workers_start(count, names, &tasks, &workers, &err), "%s", err.text);
    return workers;
}

static bool look_around(void *context, int worker, struct error *err)
{
    struct scene *scene = context;
    sigset_t set;
    pthread_t self = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    scene->signals_blocked[worker] = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) &&
                                     sigismember(&set, SIGHUP) && !sigismember(&set, SIGSEGV);
    pthread_getname_np(self, scene->thread_names[worker], sizeof scene->thread_names[worker]);
    if (scene->tasks[worker]++ && !pthread_equal(scene->threads[worker], self))
        return error_set(err, ERROR_FAILED, "another thread");
    scene->threads[worker] = self;
    return worker != 2 || error_set(err, ERROR_FAILED, "two fails");
}

START_TEST(tasks_stay_on_their_thread)
{
    struct scene scene = {0};
    struct workers *workers = start(&scene, 4, 1e-3);
    for (int round = 0; round < 50; round++) {
        workers_post(workers, look_around);
        ck_assert(workers_wait(workers, 60));
        for (int i = 0; i < 4; i++) {
            ck_assert(workers_finished(workers, i));
            ck_assert_int_eq(scene.ok[i], i != 2);
        }
        ck_assert_str_eq(scene.err.text, "two fails");
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
    ck_assert_int_eq(atomic_load(&scene.closed), 4);
}
END_TEST

/* Once the thread that hung comes back. */
static void check_abandoned(struct scene *scene)
{
    const double end = clock_seconds() + 60;
    while (!atomic_load(&scene->abandoned) && clock_seconds() < end)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&scene->abandoned), 1);
    ck_assert_int_eq(atomic_load(&scene->closed), 3);
}

static bool hang(void *context, int worker, struct error *err)
{
    struct scene *scene = context;
    (void)err;
    while (worker == 1 && atomic_load(&scene->hold))
        usleep(1000);
    return true;
}

START_TEST(hanging_thread_is_left_behind)
{
    struct scene scene = {0};
    struct workers *workers = start(&scene, 3, 0);
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
    check_abandoned(&scene);
}
END_TEST

/* A device whose driver hangs while its memory is given back. */
START_TEST(thread_that_hangs_in_closing_is_left_behind)
{
    struct scene scene = {0};
    struct workers *workers = start(&scene, 3, 0);
    atomic_store(&scene.hold_close, true);
    ck_assert(!workers_dismiss(workers, 0.05));
    ck_assert_int_eq(atomic_load(&scene.abandoned), 0);
    atomic_store(&scene.hold_close, false);
    check_abandoned(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker");
    TCase *tcase = tcase_create("worker");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, tasks_stay_on_their_thread);
    tcase_add_test(tcase, hanging_thread_is_left_behind);
    tcase_add_test(tcase, thread_that_hangs_in_closing_is_left_behind);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
