/* SPDX-License-Identifier: MIT */
#include "tests/fakes/engine_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/server/server.h"
#include "spec/json.h"
#include "spec/set.h"
#include "spec/spec.h"
#include "system/local_socket.h"
#include "tests/support.h"

#define PATIENCE 20.0

static struct {
    pthread_t thread;
    char *folder;
    const char *system_root;
    bool ok;
    struct error err;
} engine;

static void *serve(void *context)
{
    struct server_options options = {.log_fd = -1,
                                     .version = "test",
                                     .private_fd = -1,
                                     .system_root = engine.system_root,
                                     .signal_fd = -1};
    enum server_end end;
    (void)context;
    engine.ok = server_run(&options, &end, &engine.err) && end == SERVER_ENDED;
    return NULL;
}

void engine_begin_on(const char *system_root)
{
    struct error err = ERROR_INIT;
    struct client *client = NULL;
    engine.system_root = system_root;
    engine.folder = temporary_folder();
    setenv("XDG_RUNTIME_DIR", engine.folder, 1);
    ck_assert_int_eq(pthread_create(&engine.thread, NULL, serve, NULL), 0);
    for (double begin = clock_seconds(); !client_connect(&client, &err); usleep(2000))
        ck_assert_msg(clock_seconds() - begin < PATIENCE, "%s", err.text);
    client_close(client);
}

void engine_begin(void)
{
    engine_begin_on(NULL);
}

void engine_end(void)
{
    struct client *client = viewer();
    tell(client, "shutdown", json_pack("{s:b}", "now", 1));
    pthread_join(engine.thread, NULL);
    client_close(client);
    ck_assert_msg(engine.ok, "%s", engine.err.text);
    remove_tree(engine.folder);
}

double engine_processor_seconds(void)
{
    clockid_t clock;
    struct timespec spent;
    ck_assert_int_eq(pthread_getcpuclockid(engine.thread, &clock), 0);
    ck_assert_int_eq(clock_gettime(clock, &spent), 0);
    return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

struct client *viewer(void)
{
    struct error err = ERROR_INIT;
    struct client *client = NULL;
    ck_assert_msg(client_connect_within(&client, PATIENCE, &err), "%s", err.text);
    return client;
}

json_t *ask(struct client *client, const char *method, json_t *params)
{
    struct error err = ERROR_INIT;
    json_t *result = NULL;
    ck_assert_msg(client_call(client, method, params, PATIENCE, &result, &err), "%s: %s", method,
                  err.text);
    return result;
}

void tell(struct client *client, const char *method, json_t *params)
{
    json_decref(ask(client, method, params));
}

void refuse(struct client *client, const char *method, json_t *params, enum error_kind kind)
{
    struct error err = ERROR_INIT;
    ck_assert_msg(!client_call(client, method, params, PATIENCE, NULL, &err), "%s works", method);
    ck_assert_msg(err.kind == kind, "%s: %s", method, err.text);
    ck_assert_str_ne(err.text, "");
}

json_t *with(long run, const char *key, json_t *value)
{
    json_t *params = json_pack("{s:I}", "run", (json_int_t)run);
    if (key)
        json_object_set_new(params, key, value);
    return params;
}

json_t *of(long run)
{
    return with(run, NULL, NULL);
}

struct client *watcher(void)
{
    struct client *client = viewer();
    tell(client, "watch", json_pack("{s:f}", "interval", 0.05));
    return client;
}

void refuse_saying(struct client *client, const char *method, json_t *params, const char *words)
{
    struct error err = ERROR_INIT;
    ck_assert_msg(!client_call(client, method, params, PATIENCE, NULL, &err), "%s works", method);
    ck_assert_msg(strstr(err.text, words) != NULL, "%s: %s", method, err.text);
}

long submit(struct client *client, const char *settings)
{
    struct spec spec;
    struct error err = ERROR_INIT;
    char words[256], *rest = words;
    snprintf(words, sizeof words, "%s", settings);
    spec_init(&spec);
    for (char *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        ck_assert_ptr_nonnull(value);
        *value = '\0';
        ck_assert_msg(spec_set(&spec, word, value + 1, &err), "%s", err.text);
    }
    json_t *result = ask(client, "submit", spec_to_json(&spec));
    long run = (long)number_of(result, "run");
    json_decref(result);
    spec_free(&spec);
    return run;
}

static json_t *next_message(struct client *client)
{
    double begin = clock_seconds();
    struct error err = ERROR_INIT;
    for (;;) {
        json_t *message;
        ck_assert_msg(client_next(client, &message, &err), "%s", err.text);
        if (message)
            return message;
        ck_assert_msg(clock_seconds() - begin < PATIENCE, "nothing came");
        struct pollfd wait = client_poll(client);
        ck_assert(poll(&wait, 1, 1000) >= 0 || errno == EINTR);
    }
}

json_t *next_note(struct client *client, const char *method)
{
    double begin = clock_seconds();
    for (;;) {
        ck_assert_msg(clock_seconds() - begin < PATIENCE, "no %s came", method);
        json_t *message = next_message(client);
        const char *name = json_string_value(json_object_get(message, "method"));
        json_t *params = json_incref(json_object_get(message, "params"));
        bool wanted = name && strcmp(name, method) == 0;
        json_decref(message);
        if (wanted)
            return params;
        json_decref(params);
    }
}

json_t *next_event(struct client *client, long run, const char *name)
{
    double begin = clock_seconds();
    for (;;) {
        ck_assert_msg(clock_seconds() - begin < PATIENCE, "no %s event came", name);
        json_t *event = next_note(client, "event");
        if (strcmp(string_of(event, "event"), name) == 0 &&
            json_integer_value(json_object_get(event, "run")) == run)
            return event;
        json_decref(event);
    }
}

void expect_end(struct client *client, long run, const char *status)
{
    json_t *end = next_event(client, run, "end");
    ck_assert_str_eq(string_of(end, "status"), status);
    json_decref(end);
}

void wait_status(struct client *client, long run, const char *status)
{
    double begin = clock_seconds();
    for (bool equal = false; !equal; usleep(2000)) {
        json_t *record = ask(client, "show", json_pack("{s:I}", "run", (json_int_t)run));
        equal = strcmp(string_of(record, "status"), status) == 0;
        ck_assert_msg(equal || clock_seconds() - begin < PATIENCE, "run %ld is %s", run,
                      string_of(record, "status"));
        json_decref(record);
    }
}

double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "'%s' is no number", key);
    return json_number_value(value);
}

const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "'%s' is no string", key);
    return text;
}

int raw_connect(void)
{
    struct error err = ERROR_INIT;
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_msg(local_socket_address(&address, &err), "%s", err.text);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

void raw_send(int fd, const void *data, size_t length)
{
    for (const char *next = data; length;) {
        ssize_t put = send(fd, next, length, MSG_NOSIGNAL);
        if (put < 0 && errno == EPIPE)
            return; /* the engine has had enough, which the test looks at */
        ck_assert_int_gt(put, 0);
        next += put;
        length -= (size_t)put;
    }
}

json_t *raw_line(int fd)
{
    struct text line = TEXT_INIT;
    double begin = clock_seconds();
    for (bool whole = false; !whole;) {
        char bytes[4096];
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        ck_assert_msg(clock_seconds() - begin < PATIENCE, "no answer");
        if (poll(&wait, 1, 1000) <= 0)
            continue;
        /* Take no more than this line. */
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_PEEK);
        const char *newline = got > 0 ? memchr(bytes, '\n', (size_t)got) : NULL;
        if (got > 0)
            got = recv(fd, bytes, newline ? (size_t)(newline - bytes) + 1 : (size_t)got, 0);
        if (got <= 0) {
            ck_assert(got == 0 || errno == ECONNRESET);
            text_free(&line);
            return NULL;
        }
        text_append(&line, bytes, (size_t)got);
        whole = newline;
    }
    json_t *message = json_loadb(line.data, line.length, 0, NULL);
    ck_assert_msg(message != NULL, "not JSON: %s", line.data);
    text_free(&line);
    return message;
}
