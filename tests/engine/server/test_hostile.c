/* SPDX-License-Identifier: MIT */
/* Viewers that are broken, hostile or asleep harm only themselves. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fakes/engine_thread.h"

/* The engine answers others as if nothing had happened. */
static void others_are_served(void)
{
    struct client *client = viewer();
    tell(client, "status", NULL);
    client_close(client);
}

static int error_code(const json_t *answer)
{
    return (int)json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));
}

static const struct {
    const char *line;
    int code;    /* 0: no answer */
    bool has_id; /* the answer carries it */
} bad_lines[] = {
    {"hello", -32700, false},
    {"", -32700, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"status\"", -32700, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"st\\ud800atus\"}", -32700, false},
    {"\xff\xfe\x01", -32700, false},
    {"null", -32600, false},
    {"7", -32600, false},
    {"[]", -32600, false},
    {"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"status\"}]", -32600, false},
    {"{}", -32600, false},
    {"{\"id\":7,\"method\":\"status\"}", -32600, true},
    {"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"status\"}", -32600, true},
    {"{\"jsonrpc\":2,\"id\":7,\"method\":\"status\"}", -32600, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7}", -32600, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":7}", -32600, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":[7],\"method\":\"status\"}", -32600, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\"}", -32601, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"Status\"}", -32601, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"status\",\"params\":[]}", -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"status\",\"params\":7}", -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"stop\"}", -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"stop\",\"params\":{\"run\":0}}", -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"stop\",\"params\":{\"run\":1.5}}", -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"stop\",\"params\":{\"run\":1,\"now\":1}}", -32602,
     true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"stop\",\"params\":{\"run\":9}}", -32001, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"stop\",\"params\":{\"run\":99999999999999999999}}",
     -32700, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"submit\",\"params\":{\"batch\":{}}}", -32602,
     true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"submit\",\"params\":{\"devices\":[\"cpu:0\"]}}",
     -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"stop\",\"params\":{\"run\":9,\"when\":[]}}",
     -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"set_epochs\",\"params\":{\"run\":9,\"epochs\":"
     "\"2\"}}",
     -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"set_epochs\",\"params\":{\"run\":9,\"epochs\":2}}",
     -32001, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"move\",\"params\":{\"run\":9,\"place\":1.5}}",
     -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"move\",\"params\":{\"run\":9,\"place\":0}}",
     -32001, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"delete\",\"params\":{\"run\":true}}", -32602,
     true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"delete\",\"params\":{\"run\":9}}", -32001, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"note\",\"params\":{\"run\":9,\"text\":{}}}",
     -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"note\",\"params\":{\"run\":9,\"text\":\"\\u001b["
     "2J\"}}",
     -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"note\",\"params\":{\"run\":9,\"text\":\"\\u0000\"}"
     "}",
     -32700, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"log\",\"params\":{\"limit\":\"all\"}}", -32602,
     true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"submit\",\"params\":{\"note\":7}}", -32602, true},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"dance\"}", 0, false},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"stop\",\"params\":{\"run\":9}}", 0, false},
};

START_TEST(bad_lines_get_their_error)
{
    int fd = raw_connect();
    static const char probe[] = "{\"jsonrpc\":\"2.0\",\"id\":\"probe\",\"method\":\"status\"}\n";
    raw_send(fd, bad_lines[_i].line, strlen(bad_lines[_i].line));
    raw_send(fd, "\n", 1);
    raw_send(fd, probe, sizeof probe - 1);
    if (bad_lines[_i].code) {
        json_t *answer = raw_line(fd);
        const json_t *id = json_object_get(answer, "id");
        ck_assert_int_eq(error_code(answer), bad_lines[_i].code);
        ck_assert(bad_lines[_i].has_id ? json_integer_value(id) == 7 : json_is_null(id));
        json_decref(answer);
    }
    /* The connection still works. */
    json_t *answer = raw_line(fd);
    ck_assert_str_eq(string_of(answer, "id"), "probe");
    ck_assert_ptr_nonnull(json_object_get(answer, "result"));
    json_decref(answer);
    close(fd);
}
END_TEST

START_TEST(a_line_without_end_closes_the_connection)
{
    size_t length = (size_t)2 << 20;
    char *line = malloc(length);
    ck_assert_ptr_nonnull(line);
    memset(line, ' ', length);
    int fd = raw_connect();
    raw_send(fd, line, length);
    free(line);
    /* Told why, if the words arrive before the reset. */
    json_t *answer = raw_line(fd);
    if (answer) {
        ck_assert_int_eq(error_code(answer), -32600);
        json_decref(answer);
        ck_assert_ptr_null(raw_line(fd));
    }
    close(fd);
    others_are_served();
}
END_TEST

START_TEST(the_longest_line_is_taken)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"params\":{}";
    size_t length = (size_t)1 << 20;
    char *line = malloc(length + 1);
    ck_assert_ptr_nonnull(line);
    memset(line, ' ', length);
    memcpy(line, head, sizeof head - 1);
    line[length - 1] = '}';
    line[length] = '\n';
    int fd = raw_connect();
    raw_send(fd, line, length + 1);
    free(line);
    json_t *answer = raw_line(fd);
    ck_assert_ptr_nonnull(json_object_get(answer, "result"));
    json_decref(answer);
    close(fd);
}
END_TEST

START_TEST(deep_and_binary_rubbish_is_survived)
{
    enum { SIZE = 200000 };
    char *rubbish = malloc(SIZE);
    ck_assert_ptr_nonnull(rubbish);
    int fd = raw_connect();
    memset(rubbish, '[', SIZE);
    rubbish[SIZE - 1] = '\n';
    raw_send(fd, rubbish, SIZE);
    json_t *answer = raw_line(fd);
    ck_assert_int_eq(error_code(answer), -32700);
    json_decref(answer);
    /* As many short bad lines as there may be; nobody reads the answers. */
    unsigned state = 12345;
    for (int i = 0; i < SIZE; i++) {
        state = state * 1103515245 + 12345;
        rubbish[i] = (char)(state >> 16);
    }
    send(fd, rubbish, SIZE, MSG_NOSIGNAL | MSG_DONTWAIT);
    others_are_served();
    free(rubbish);
    close(fd);
    others_are_served();
}
END_TEST

START_TEST(half_lines_and_sudden_ends_are_survived)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n";
    for (size_t length = 0; length < sizeof line - 1; length += 3) {
        int fd = raw_connect();
        raw_send(fd, line, length);
        close(fd);
    }
    others_are_served();
    /* A request in pieces, and one whose sender has shut down its side. */
    int fd = raw_connect();
    for (size_t i = 0; i < sizeof line - 1; i++)
        raw_send(fd, line + i, 1);
    json_t *answer = raw_line(fd);
    ck_assert_ptr_nonnull(json_object_get(answer, "result"));
    json_decref(answer);
    raw_send(fd, line, sizeof line - 1);
    shutdown(fd, SHUT_WR);
    answer = raw_line(fd);
    ck_assert_ptr_nonnull(json_object_get(answer, "result"));
    json_decref(answer);
    ck_assert_ptr_null(raw_line(fd));
    close(fd);
}
END_TEST

/* Each is served; the first ones, idle by then, have made room for the last ones. */
START_TEST(a_hundred_viewers_are_too_many)
{
    enum { VIEWERS = 100, PLACES = 64 };
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n";
    int fds[VIEWERS], dropped = 0;
    for (int i = 0; i < VIEWERS; i++) {
        fds[i] = raw_connect();
        raw_send(fds[i], line, sizeof line - 1);
        json_t *answer = raw_line(fds[i]);
        ck_assert_ptr_nonnull(json_object_get(answer, "result"));
        json_decref(answer);
    }
    for (int i = 0; i < VIEWERS; i++) {
        struct pollfd wait = {.fd = fds[i], .events = POLLIN};
        dropped += poll(&wait, 1, 0) > 0;
        close(fds[i]);
    }
    ck_assert_int_eq(dropped, VIEWERS - PLACES);
}
END_TEST

Suite *hostile_suite(void)
{
    Suite *suite = suite_create("hostile viewers");
    TCase *tests = tcase_create("hostile");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, engine_begin, engine_end);
    tcase_add_loop_test(tests, bad_lines_get_their_error, 0,
                        (int)(sizeof bad_lines / sizeof *bad_lines));
    tcase_add_test(tests, a_line_without_end_closes_the_connection);
    tcase_add_test(tests, the_longest_line_is_taken);
    tcase_add_test(tests, deep_and_binary_rubbish_is_survived);
    tcase_add_test(tests, half_lines_and_sudden_ends_are_survived);
    tcase_add_test(tests, a_hundred_viewers_are_too_many);
    suite_add_tcase(suite, tests);
    return suite;
}
