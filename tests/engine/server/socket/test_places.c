/* SPDX-License-Identifier: MIT */
/* Who keeps a place at the engine and who makes room when all are taken. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/server/socket/places.h"
#include "tests/fakes/engine_thread.h"

#define NOW 1000.0

static bool no_work(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    (void)task, (void)params, (void)err;
    *result = json_null();
    return true;
}

/* Connected so long ago, and nothing heard of it since. */
static struct connection quiet(double seconds)
{
    return (struct connection){.fd = -1, .since = NOW - seconds, .active = NOW - seconds};
}

static struct connection asked(double age, double idle)
{
    return (struct connection){.fd = -1, .since = NOW - age, .active = NOW - idle, .asked = true};
}

static int victim(struct connection *all, int count)
{
    struct connection *connections[8];
    ck_assert_int_le(count, 8);
    for (int i = 0; i < count; i++)
        connections[i] = &all[i];
    return places_victim(connections, count, NOW);
}

START_TEST(who_never_asked_goes_first)
{
    struct connection all[] = {asked(500, 400), quiet(20), quiet(30), asked(900, 0.01)};
    ck_assert_int_eq(victim(all, 4), 2);
    ck_assert_int_eq(victim(all, 2), 1);
    struct connection idle[] = {asked(500, 3), asked(10, 4), asked(900, 0.01)};
    ck_assert_int_eq(victim(idle, 3), 1);
}
END_TEST

START_TEST(a_newcomer_has_time_to_ask)
{
    int pair[2];
    struct connection fresh = quiet(0.5 * PLACES_IDLE);
    ck_assert_int_eq(victim(&fresh, 1), -1);
    fresh = asked(1, 0.5 * PLACES_IDLE);
    ck_assert_int_eq(victim(&fresh, 1), -1);
    /* What it has sent waits for the budget. */
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    raw_send(pair[1], "x", 1);
    struct connection all[] = {quiet(1), quiet(0.5)};
    all[0].fd = pair[0];
    ck_assert_int_eq(victim(all, 1), -1);
    ck_assert_int_eq(victim(all, 2), 1);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

START_TEST(who_asks_is_safe_from_those_who_only_connect)
{
    struct connection all[] = {asked(500, 400), quiet(0.5 * PLACES_IDLE)};
    ck_assert_int_eq(victim(all, 1), 0);
    ck_assert_int_eq(victim(all, 2), -1);
    all[1] = quiet(PLACES_IDLE);
    ck_assert_int_eq(victim(all, 2), 1);
    all[1] = quiet(0.5 * PLACES_IDLE);
    all[1].watching = true;
    ck_assert_int_eq(victim(all, 2), 0);
}
END_TEST

START_TEST(who_asks_all_the_time_goes_when_nobody_is_idle)
{
    struct connection all[] = {asked(0.9 * PLACES_COMMAND, 0.01), asked(7, 0.01), asked(9, 0.02),
                               asked(8, 0.03)};
    ck_assert_int_eq(victim(all, 4), 2);
    ck_assert_int_eq(victim(all, 1), -1);
    /* Something is computed for the last two. */
    all[2].tasks = 1;
    all[3].waiting.work = no_work;
    ck_assert_int_eq(victim(all, 4), 1);
    ck_assert_int_eq(victim(all + 2, 2), 0);
    all[2].since = all[3].since = NOW - 1;
    ck_assert_int_eq(victim(all + 2, 2), -1);
}
END_TEST

START_TEST(subscribers_never_make_room_for_commands)
{
    struct connection all[] = {quiet(5000), quiet(5000), asked(500, 0.01)};
    all[0].watching = true;
    all[1].follow_count = 1;
    ck_assert_int_eq(victim(all, 2), -1);
    ck_assert_int_eq(victim(all, 3), 2);
}
END_TEST

/* A stopped workbench keeps its place until another one needs it. */
START_TEST(a_stalled_subscriber_makes_room_for_another)
{
    static struct connection all[SUBSCRIBER_LIMIT + 1];
    struct connection *connections[SUBSCRIBER_LIMIT + 1], *stalled;
    for (int i = 0; i <= SUBSCRIBER_LIMIT; i++) {
        all[i] = quiet(5000);
        all[i].watching = i < SUBSCRIBER_LIMIT;
        connections[i] = &all[i];
    }
    struct connection *who = connections[SUBSCRIBER_LIMIT];
    ck_assert(!places_may_subscribe(connections, SUBSCRIBER_LIMIT + 1, who, NOW, &stalled));
    ck_assert_ptr_null(stalled);
    ck_assert(places_may_subscribe(connections, SUBSCRIBER_LIMIT + 1, &all[3], NOW, &stalled));
    text_puts(&all[3].out, "an event");
    all[3].active = NOW - 0.9 * PLACES_STALLED;
    ck_assert(!places_may_subscribe(connections, SUBSCRIBER_LIMIT + 1, who, NOW, &stalled));
    all[3].active = NOW - PLACES_STALLED;
    ck_assert(places_may_subscribe(connections, SUBSCRIBER_LIMIT + 1, who, NOW, &stalled));
    ck_assert_ptr_eq(stalled, &all[3]);
    /* It is on its way out: one more may come, not two. */
    stalled->lost = true;
    ck_assert(places_may_subscribe(connections, SUBSCRIBER_LIMIT + 1, who, NOW, &stalled));
    ck_assert_ptr_null(stalled);
    who->watching = true;
    struct connection next = quiet(1);
    ck_assert(!places_may_subscribe(connections, SUBSCRIBER_LIMIT + 1, &next, NOW, &stalled));
    text_free(&all[3].out);
}
END_TEST

/* The engine's last line, which says why, and the end. */
static void expect_dropped(int fd)
{
    json_t *line = raw_line(fd);
    ck_assert_ptr_nonnull(line);
    const json_t *failure = json_object_get(line, "error");
    ck_assert(json_is_null(json_object_get(line, "id")));
    ck_assert_int_eq((int)number_of(failure, "code"), -32002);
    ck_assert_ptr_nonnull(strstr(string_of(failure, "message"), "idle"));
    json_decref(line);
    ck_assert_ptr_null(raw_line(fd));
}

static bool has_more(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, 0) > 0;
}

START_TEST(idle_connections_lock_nobody_out)
{
    enum { MORE = 3 };
    int fds[CONNECTION_LIMIT], dropped = 0;
    struct client *last = NULL;
    for (int i = 0; i < CONNECTION_LIMIT; i++)
        fds[i] = raw_connect();
    for (int i = 0; i < MORE; i++) {
        client_close(last);
        last = viewer();
        tell(last, "status", NULL);
    }
    for (int i = 0; i < CONNECTION_LIMIT; i++) {
        bool gone = has_more(fds[i]);
        dropped += gone;
        if (gone)
            expect_dropped(fds[i]);
        close(fds[i]);
    }
    ck_assert_int_ge(dropped, 1);
    ck_assert_int_le(dropped, MORE);
    client_close(last);
}
END_TEST

/* As many workbenches as may, and more commands than there are other places. */
START_TEST(commands_take_no_place_of_a_subscriber)
{
    struct client *watchers[SUBSCRIBER_LIMIT];
    int fds[CONNECTION_LIMIT];
    for (int i = 0; i < SUBSCRIBER_LIMIT; i++)
        watchers[i] = watcher();
    struct client *one_more = viewer();
    refuse_saying(one_more, "watch", NULL, "as many as may");
    long run = submit(one_more, "epochs=1");
    refuse_saying(one_more, "follow", of(run), "as many as may");
    client_close(one_more);
    for (int i = 0; i < CONNECTION_LIMIT; i++) {
        fds[i] = raw_connect();
        struct client *command = viewer();
        tell(command, "status", NULL);
        client_close(command);
    }
    for (int i = 0; i < SUBSCRIBER_LIMIT; i++) {
        tell(watchers[i], "status", NULL);
        client_close(watchers[i]);
    }
    for (int i = 0; i < CONNECTION_LIMIT; i++)
        close(fds[i]);
}
END_TEST

/* The client's words for it, not just "lost". */
START_TEST(a_client_says_why_it_was_dropped)
{
    int fds[CONNECTION_LIMIT];
    struct client *client = viewer();
    tell(client, "status", NULL);
    for (int i = 0; i < CONNECTION_LIMIT; i++) {
        static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n";
        fds[i] = raw_connect();
        raw_send(fds[i], request, sizeof request - 1);
        json_decref(raw_line(fds[i]));
    }
    struct error err = ERROR_INIT;
    ck_assert(!client_call(client, "status", NULL, 20, NULL, &err));
    ck_assert_msg(strstr(err.text, "dropped") != NULL, "%s", err.text);
    ck_assert_int_eq(err.kind, ERROR_SILENT);
    ck_assert(client_is_lost(client));
    client_close(client);
    for (int i = 0; i < CONNECTION_LIMIT; i++)
        close(fds[i]);
}
END_TEST

Suite *places_suite(void)
{
    Suite *suite = suite_create("places for connections");
    TCase *rule = tcase_create("rule"), *served = tcase_create("served");
    tcase_add_test(rule, who_never_asked_goes_first);
    tcase_add_test(rule, a_newcomer_has_time_to_ask);
    tcase_add_test(rule, who_asks_is_safe_from_those_who_only_connect);
    tcase_add_test(rule, who_asks_all_the_time_goes_when_nobody_is_idle);
    tcase_add_test(rule, subscribers_never_make_room_for_commands);
    tcase_add_test(rule, a_stalled_subscriber_makes_room_for_another);
    tcase_set_timeout(served, 120);
    tcase_add_checked_fixture(served, engine_begin, engine_end);
    tcase_add_test(served, idle_connections_lock_nobody_out);
    tcase_add_test(served, commands_take_no_place_of_a_subscriber);
    tcase_add_test(served, a_client_says_why_it_was_dropped);
    suite_add_tcase(suite, rule);
    suite_add_tcase(suite, served);
    return suite;
}
