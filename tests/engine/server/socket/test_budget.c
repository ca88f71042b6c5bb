/* SPDX-License-Identifier: MIT */
/* What viewers may cost a run (engine/server/socket/budget.h), and what is charged for. */
#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/server/viewers/connections.h"
#include "engine/server/viewers/costs.h"
#include "engine/server/viewers/work.h"
#include "tests/suites.h"

START_TEST(both_halves_begin_full)
{
    struct budget budget;
    budget_begin(&budget, 2, 50);
    for (int part = 0; part < BUDGET_PARTS; part++)
        ck_assert_double_eq(budget.seconds[part], BUDGET_SAVED);
    /* And never get fuller. */
    budget_pay(&budget, 5000);
    for (int part = 0; part < BUDGET_PARTS; part++)
        ck_assert_double_eq(budget.seconds[part], BUDGET_SAVED);
}
END_TEST

/* However much is asked for: 1 % of a CPU's time for each CPU, in both halves together. */
START_TEST(a_share_of_the_machine_is_paid)
{
    enum { CPUS = 4 };
    const double seconds = 1000, each = 0.003;
    double spent = 0;
    struct budget budget;
    budget_begin(&budget, CPUS, 0);
    for (int i = 0; i <= seconds * 1000; i++) {
        budget_pay(&budget, i * 1e-3);
        for (enum budget_part part = 0; part < BUDGET_PARTS; part++)
            if (budget_allows(&budget, part)) {
                budget_charge(&budget, part, each);
                spent += each;
            }
    }
    double saved = BUDGET_PARTS * BUDGET_SAVED;
    ck_assert_double_eq_tol(spent, saved + 0.01 * CPUS * seconds, BUDGET_PARTS * each);
}
END_TEST

START_TEST(halves_pay_for_themselves)
{
    struct budget budget;
    budget_begin(&budget, 1, 0);
    budget_charge(&budget, BUDGET_WORK, BUDGET_SAVED + 0.03);
    ck_assert(!budget_allows(&budget, BUDGET_WORK));
    ck_assert(budget_allows(&budget, BUDGET_ANSWERS));
    ck_assert_double_le(budget_allows_at(&budget, BUDGET_ANSWERS), 0);
    double again = budget_allows_at(&budget, BUDGET_WORK);
    ck_assert_double_eq_tol(again, 0.03 / 0.005, 1e-6);
    budget_pay(&budget, again - 1);
    ck_assert(!budget_allows(&budget, BUDGET_WORK));
    budget_pay(&budget, again + 1);
    ck_assert(budget_allows(&budget, BUDGET_WORK));
}
END_TEST

START_TEST(nobody_waits_for_ever)
{
    struct budget budget;
    budget_begin(&budget, 1, 0);
    budget_charge(&budget, BUDGET_ANSWERS, 10);
    budget_charge(&budget, BUDGET_WORK, 1000);
    ck_assert_double_eq_tol(budget_allows_at(&budget, BUDGET_ANSWERS), BUDGET_ANSWERS_WAIT, 1e-9);
    ck_assert_double_eq_tol(budget_allows_at(&budget, BUDGET_WORK), BUDGET_WORK_WAIT, 1e-9);
}
END_TEST

START_TEST(what_hurt_nobody_is_forgiven)
{
    struct budget budget;
    budget_begin(&budget, 1, 0);
    budget_charge(&budget, BUDGET_ANSWERS, 0.04);
    budget_charge(&budget, BUDGET_WORK, 10);
    budget_forgive(&budget);
    ck_assert_double_eq(budget.seconds[BUDGET_ANSWERS], BUDGET_SAVED - 0.04);
    ck_assert_double_eq(budget.seconds[BUDGET_WORK], BUDGET_SAVED);
}
END_TEST

/* A server that serves nothing by itself, while a run seems to train, and one viewer. */
static struct server *server;
static struct connection *connection;
static struct record run;
static int viewer;

static void set_up(void)
{
    int ends[2];
    server = calloc(1, sizeof *server);
    ck_assert_ptr_nonnull(server);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    static const struct server_options options = {.private_fd = -1, .signal_fd = -1, .log_fd = -1};
    struct error err = ERROR_INIT;
    server->options = &options;
    server->wake_fd = -1;
    pthread_mutex_init(&server->queue.lock, NULL);
    server->queue.current = &run;
    atomic_store(&run.control.paused, false);
    budget_begin(&server->budget, 4, 0);
    ck_assert(server_add_connection(server, ends[0], &err));
    connection = server->connections[0];
    viewer = ends[1];
}

static void tear_down(void)
{
    connection_free(connection);
    close(viewer);
    pthread_mutex_destroy(&server->queue.lock);
    free(server);
}

/* Twice what may be saved up, by the clock that counts. */
#define MUCH (2 * BUDGET_SAVED)

static bool compute(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    (void)task;
    (void)params;
    (void)err;
    while (clock_thread_seconds() < MUCH)
        ;
    *result = json_object();
    return true;
}

static atomic_bool may_end;

static bool compute_and_wait(struct task *task, const json_t *params, json_t **result,
                             struct error *err)
{
    bool ok = compute(task, params, result, err);
    while (!atomic_load(&may_end))
        poll(NULL, 0, 1);
    return ok;
}

static bool do_nothing(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    (void)task;
    (void)params;
    (void)err;
    *result = json_object();
    return true;
}

static void ask_for(task_work *work)
{
    server_take_work(
        server, connection,
        &(struct request){
            .work = work, .method = "", .id = json_integer(1), .params = json_object()});
}

static void serve_all(void)
{
    while (server->tasks) {
        server_serve_tasks(server);
        poll(NULL, 0, 1);
    }
}

START_TEST(work_on_other_threads_is_charged)
{
    ask_for(compute);
    ck_assert_int_eq(server->task_count, 1);
    /* In advance: not all that was asked for starts at once. */
    ck_assert_double_lt(server->budget.seconds[BUDGET_WORK], BUDGET_SAVED);
    serve_all();
    ck_assert_double_le(server->budget.seconds[BUDGET_WORK], BUDGET_SAVED - MUCH);
    ck_assert_double_eq(server->budget.seconds[BUDGET_ANSWERS], BUDGET_SAVED);
}
END_TEST

START_TEST(work_is_charged_while_it_is_done)
{
    atomic_store(&may_end, false);
    ask_for(compute_and_wait);
    while (budget_allows(&server->budget, BUDGET_WORK)) {
        server_pay(server, 0);
        poll(NULL, 0, 1);
    }
    ck_assert_int_eq(server->task_count, 1);
    ask_for(do_nothing);
    ck_assert_int_eq(server->task_count, 1);
    ck_assert_ptr_nonnull(connection->waiting.work);
    atomic_store(&may_end, true);
    serve_all();
}
END_TEST

START_TEST(the_advance_is_given_back)
{
    for (int i = 0; i < 60; i++) {
        ask_for(do_nothing);
        serve_all();
    }
    /* Sixty advances would have been more than there is. */
    ck_assert_ptr_null(connection->waiting.work);
}
END_TEST

/* Work that has to wait. */
static void ask_for_more_than_there_is(void)
{
    budget_charge(&server->budget, BUDGET_WORK, 1);
    ask_for(do_nothing);
    ck_assert_int_eq(server->task_count, 0);
    ck_assert_ptr_nonnull(connection->waiting.work);
}

START_TEST(work_waits_until_it_is_paid_for)
{
    ask_for_more_than_there_is();
    /* What the viewer asks for after it waits, too, and its end does not lose it. */
    ck_assert(!connection_accepts(connection));
    connection->input_ended = true;
    ck_assert(!connection_is_over(connection));
    double again = budget_allows_at(&server->budget, BUDGET_WORK);
    server_pay(server, again - 1);
    ck_assert(!server_start_waiting(server, connection));
    server_pay(server, again + 1);
    ck_assert(server_start_waiting(server, connection));
    ck_assert_int_eq(server->task_count, 1);
    ck_assert(connection_accepts(connection));
    ck_assert(!server_start_waiting(server, connection));
    serve_all();
    ck_assert_uint_gt(connection->out.length, 0);
}
END_TEST

START_TEST(without_a_run_nothing_waits)
{
    ask_for_more_than_there_is();
    server->queue.current = NULL;
    server_pay(server, 0);
    ck_assert(server_start_waiting(server, connection));
    serve_all();
}
END_TEST

START_TEST(while_a_run_is_paused_nothing_waits)
{
    ask_for_more_than_there_is();
    atomic_store(&run.control.paused, true);
    server_pay(server, 0);
    ck_assert(server_start_waiting(server, connection));
    serve_all();
}
END_TEST

START_TEST(an_engine_that_ends_answers_what_waits)
{
    budget_charge(&server->budget, BUDGET_WORK, 1);
    ask_for(do_nothing);
    server->leaving = true;
    ck_assert(server_start_waiting(server, connection));
    ck_assert_int_eq(server->task_count, 0);
    ck_assert_uint_gt(connection->out.length, 0);
}
END_TEST

START_TEST(a_viewer_that_goes_takes_its_request_along)
{
    ask_for_more_than_there_is(); /* the rest is for the memory checkers */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *pure = tcase_create("pure"), *work = tcase_create("work");
    tcase_add_test(pure, both_halves_begin_full);
    tcase_add_test(pure, a_share_of_the_machine_is_paid);
    tcase_add_test(pure, halves_pay_for_themselves);
    tcase_add_test(pure, nobody_waits_for_ever);
    tcase_add_test(pure, what_hurt_nobody_is_forgiven);
    suite_add_tcase(suite, pure);
    tcase_add_checked_fixture(work, set_up, tear_down);
    tcase_set_timeout(work, 60);
    tcase_add_test(work, work_on_other_threads_is_charged);
    tcase_add_test(work, work_is_charged_while_it_is_done);
    tcase_add_test(work, the_advance_is_given_back);
    tcase_add_test(work, work_waits_until_it_is_paid_for);
    tcase_add_test(work, without_a_run_nothing_waits);
    tcase_add_test(work, while_a_run_is_paused_nothing_waits);
    tcase_add_test(work, an_engine_that_ends_answers_what_waits);
    tcase_add_test(work, a_viewer_that_goes_takes_its_request_along);
    suite_add_tcase(suite, work);
    return run_suites(suite, NULL);
}
