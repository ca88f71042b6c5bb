/* SPDX-License-Identifier: MIT */
/* Viewers that ask for more than there is: of memory, of the processor, of the length of a line. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/server/socket/budget.h"
#include "tests/fakes/engine_thread.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool memory_is_telling = false; /* freed memory stays resident */
#else
static const bool memory_is_telling = true;
#endif

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

START_TEST(a_sleeping_follower_costs_bounded_memory)
{
    enum { STEPS = 100000, KEPT = 20000 };
    char follow[100];
    struct client *client = viewer();
    long before = resident_kib();
    long run = submit(client, "epochs=1 batch=1 train-rows=100000");
    int fd = raw_connect();
    snprintf(follow, sizeof follow,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"follow\",\"params\":{\"run\":%ld}}\n",
             run);
    raw_send(fd, follow, strlen(follow));
    /* It does not read, and the run continues to its end. */
    wait_status(client, run, "done");
    if (memory_is_telling)
        ck_assert_int_lt(resident_kib() - before, 32 * 1024);
    client_close(client);
    long steps = 0, missed = 0, gaps = 0;
    for (bool ended = false; !ended;) {
        json_t *message = raw_line(fd);
        const json_t *event = json_object_get(message, "params");
        const char *name = json_string_value(json_object_get(event, "event"));
        ck_assert_ptr_nonnull(message);
        if (name && strcmp(name, "step") == 0) {
            steps++;
            ck_assert_int_eq((long)number_of(event, "step"), steps + missed);
        } else if (name && strcmp(name, "gap") == 0) {
            gaps++;
            missed += (long)number_of(event, "missed");
        }
        ended = name && strcmp(name, "end") == 0;
        json_decref(message);
    }
    ck_assert_int_eq(steps + missed, STEPS);
    ck_assert_int_eq(gaps, 1);
    ck_assert_int_ge(steps, KEPT);
    close(fd);
}
END_TEST

START_TEST(who_asks_without_reading_is_not_read_from)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n";
    int fd = raw_connect();
    size_t sent = 0, limit = (size_t)64 << 20;
    double begin = clock_seconds();
    while (sent < limit && clock_seconds() - begin < 2) {
        ssize_t put = send(fd, line, sizeof line - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put <= 0)
            usleep(1000);
        else
            sent += (size_t)put;
    }
    ck_assert_uint_lt(sent, limit);
    /* The engine answers others as if nothing had happened. */
    struct client *client = viewer();
    tell(client, "status", NULL);
    client_close(client);
    close(fd);
}
END_TEST

static atomic_bool flooding;

/* Requests that want no answer, as many as the engine takes. */
static void *flood(void *context)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"status\"}\n";
    const int *fd = context;
    while (atomic_load(&flooding))
        if (send(*fd, line, sizeof line - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            usleep(1000);
    return NULL;
}

/* What all viewers together may cost a run is used up all the time; each has its turn. */
START_TEST(floods_leave_others_their_turn)
{
    enum { FLOODS = 3 };
    pthread_t threads[FLOODS];
    int fds[FLOODS];
    struct client *client = viewer();
    long run = submit(client, "model=slow epochs=1000000");
    wait_status(client, run, "running");
    double before = engine_processor_seconds();
    atomic_store(&flooding, true);
    for (int i = 0; i < FLOODS; i++) {
        fds[i] = raw_connect();
        ck_assert_int_eq(pthread_create(&threads[i], NULL, flood, &fds[i]), 0);
    }
    while (engine_processor_seconds() - before < 1.1 * BUDGET_SAVED)
        usleep(1000);
    struct client *late = viewer();
    for (int i = 0; i < 5; i++)
        tell(late, "status", NULL);
    tell(late, "stop", json_pack("{s:I, s:b}", "run", (json_int_t)run, "now", 1));
    wait_status(late, run, "stopped");
    atomic_store(&flooding, false);
    for (int i = 0; i < FLOODS; i++) {
        pthread_join(threads[i], NULL);
        close(fds[i]);
    }
    client_close(late);
    client_close(client);
}
END_TEST

static json_t *run_with_data(const char *data)
{
    return json_pack("{s:s, s:s}", "model", "slow", "data", data);
}

static long number_and_free(json_t *result)
{
    long run = (long)number_of(result, "run");
    json_decref(result);
    return run;
}

/* "runs" is one line, whatever it would hold; the newest runs are in it. */
START_TEST(more_runs_than_a_line_can_hold_are_cut)
{
    enum { RUNS = 300 };
    struct client *client = viewer();
    char data[4096];
    long last = 0;
    memset(data, 'x', sizeof data - 1);
    data[sizeof data - 1] = '\0';
    for (int i = 0; i < RUNS; i++)
        last = number_and_free(ask(client, "submit", run_with_data(data)));
    json_t *runs = ask(client, "runs", NULL);
    size_t count = json_array_size(runs);
    ck_assert_uint_ge(count, 200);
    ck_assert_uint_lt(count, RUNS);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq((long)number_of(json_array_get(runs, i), "run"),
                         last - (long)(count - 1 - i));
    json_decref(runs);
    client_close(client);
}
END_TEST

/* Runs that are taken out while one trains are dropped like others that ended. */
START_TEST(runs_taken_out_cost_bounded_memory)
{
    enum { KEPT = 1000, RUNS = KEPT + 100 };
    struct client *client = viewer();
    long first = submit(client, "model=slow epochs=1000000");
    wait_status(client, first, "running");
    /* While it trains, requests get little time. */
    tell(client, "pause", json_pack("{s:I}", "run", (json_int_t)first));
    for (int i = 0; i < RUNS; i++) {
        long run = number_and_free(ask(client, "submit", run_with_data("glyphs")));
        tell(client, "stop", json_pack("{s:I}", "run", (json_int_t)run));
    }
    json_t *runs = ask(client, "runs", NULL);
    ck_assert_uint_le(json_array_size(runs), KEPT + 2);
    ck_assert_int_eq((long)number_of(json_array_get(runs, 0), "run"), first);
    json_decref(runs);
    client_close(client);
}
END_TEST

Suite *flood_suite(void)
{
    Suite *suite = suite_create("flooding viewers");
    TCase *tests = tcase_create("flood");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, engine_begin, engine_end);
    tcase_add_test(tests, a_sleeping_follower_costs_bounded_memory);
    tcase_add_test(tests, who_asks_without_reading_is_not_read_from);
    tcase_add_test(tests, floods_leave_others_their_turn);
    tcase_add_test(tests, more_runs_than_a_line_can_hold_are_cut);
    tcase_add_test(tests, runs_taken_out_cost_bounded_memory);
    suite_add_tcase(suite, tests);
    return suite;
}
