/* SPDX-License-Identifier: MIT */
#include "ui/app/hosts.h"

#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/open.h"
#include "system/local_socket.h"

/* A host that has not answered for so long is down. */
#define ANSWER_SECONDS 30.0
/* Between two states of an engine. */
#define WATCH_INTERVAL_S 2.0
/* Of which runs the page wants to know. */
#define NEWEST_RUNS 1

enum { MESSAGES_A_STEP = 64 };

struct host_line {
    struct client *client; /* NULL: none now */
    double retry, pause;   /* the next attempt, and the pause before it */
    double give_up;        /* when the first answer should be there; INFINITY: it is */
    long hello, runs;      /* requests that are not answered yet */
    bool more;             /* messages may be here that poll() knows nothing of */
};

struct host_lines {
    struct ui *ui;
    const char *ssh;
    struct host_line line[HOSTS_MOST];
};

bool host_lines_open(struct host_lines **out, struct ui *ui, const char *ssh, struct error *err)
{
    struct host_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return error_memory(err, "lines to hosts");
    lines->ui = ui;
    lines->ssh = ssh;
    *out = lines;
    return true;
}

static void hang_up(struct host_line *line)
{
    client_drop(line->client);
    *line = (struct host_line){.pause = line->pause};
}

void host_lines_close(struct host_lines *lines)
{
    for (int i = 0; lines && i < HOSTS_MOST; i++)
        hang_up(&lines->line[i]);
    free(lines);
}

int host_lines_poll(const struct host_lines *lines, struct pollfd *fds)
{
    const int count = lines->ui->hosts.count;
    for (int i = 0; i < count; i++) {
        const struct client *client = lines->line[i].client;
        fds[i] = client ? client_poll(client) : (struct pollfd){.fd = -1};
    }
    return count;
}

double host_lines_deadline(const struct host_lines *lines)
{
    double deadline = INFINITY;
    if (!lines->ui->hosts.shown)
        return INFINITY;
    for (int i = 0; i < lines->ui->hosts.count; i++) {
        const struct host_line *line = &lines->line[i];
        deadline = fmin(deadline, line->more ? 0 : line->client ? line->give_up : line->retry);
    }
    return deadline;
}

/* It will be tried again. */
static void fail(struct host *host, struct host_line *line, enum host_state state, const char *why)
{
    host_lost(host, state, why);
    hang_up(line);
    line->pause = remote_pause(line->pause);
    line->retry = clock_seconds() + line->pause;
}

static bool ask_runs(struct host_line *line, struct error *err)
{
    return client_send(line->client, "runs", json_pack("{s:i}", "limit", NEWEST_RUNS), &line->runs,
                       err);
}

static bool ask_all(struct host_line *line, struct error *err)
{
    long watch;
    return client_send(line->client, "hello", json_pack("{s:s}", "version", PACKAGE_VERSION),
                       &line->hello, err) &&
           client_send(line->client, "watch", json_pack("{s:f}", "interval", WATCH_INTERVAL_S),
                       &watch, err) &&
           ask_runs(line, err);
}

static void call(struct host_lines *lines, struct host *host, struct host_line *line)
{
    const struct remote remote = {.host = host->name, .ssh = lines->ssh};
    struct error err = ERROR_INIT;
    bool ok = host->name[0] != '\0'
                  ? client_open_remote(&line->client, &remote, LINE_UNDER_SCREEN, true, &err)
                  : client_connect(&line->client, &err);
    if (!ok)
        line->client = NULL;
    line->give_up = clock_seconds() + ANSWER_SECONDS;
    if (!ok || !ask_all(line, &err))
        fail(host, line, err.kind == ERROR_ABSENT ? HOST_NO_ENGINE : HOST_DOWN, err.text);
}

static enum host_state state_of(const struct client *client)
{
    switch (client_host(client) ? client_line_end(client) : LINE_NO_ENGINE) {
    case LINE_HUNG_UP:
    case LINE_NO_ENGINE:
        return HOST_NO_ENGINE;
    default:
        return HOST_DOWN;
    }
}

/* Without the name of the host, which the page has anyway. */
static const char *why_of(const struct client *client, const char *text)
{
    const char *why = client_line_why(client), *name = client_host(client);
    const size_t length = name ? strlen(name) : 0;
    if (why[0] != '\0')
        return why;
    return length > 0 && strncmp(text, name, length) == 0 && strncmp(text + length, ": ", 2) == 0
               ? text + length + 2
               : text;
}

/* False: this engine is not understood. */
static bool take_hello(struct host *host, const json_t *result)
{
    const char *version = json_string_value(json_object_get(result, "version"));
    host->state = HOST_UP;
    if (json_integer_value(json_object_get(result, "protocol")) == PROTOCOL_VERSION)
        return true;
    snprintf(host->why, sizeof host->why, "has version %.40s, this host " PACKAGE_VERSION,
             version ? version : "?");
    return false;
}

static bool take(struct host *host, struct host_line *line, const json_t *message,
                 struct error *err)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const long id = (long)json_integer_value(json_object_get(message, "id"));
    json_t *result = NULL;
    line->give_up = INFINITY;
    line->pause = 0;
    if (method)
        return state_notification(&host->engine, method, json_object_get(message, "params"), err);
    if (!client_response(message, &result, err))
        return false;
    if (id == line->hello && !take_hello(host, result))
        return error_set(err, ERROR_FAILED, "%s", host->why);
    return id != line->runs || state_runs(&host->engine, result, err);
}

/* False: the connection is of no use any more. */
static bool read_all(struct host *host, struct host_line *line, enum news *news, struct error *err)
{
    line->more = true;
    for (int i = 0; i < MESSAGES_A_STEP; i++) {
        json_t *message = NULL;
        if (!client_next(line->client, &message, err))
            return false;
        if (!message) {
            line->more = false;
            break;
        }
        const bool first = host->state != HOST_UP;
        bool ok = take(host, line, message, err);
        json_decref(message);
        if (!ok)
            return false;
        *news = first ? NEWS_FULL : *news == NEWS_NONE ? NEWS_STATE : *news;
    }
    if (!host->engine.runs_stale)
        return true;
    host->engine.runs_stale = false;
    return ask_runs(line, err);
}

static enum news step(struct host_lines *lines, struct host *host, struct host_line *line)
{
    const double now = clock_seconds();
    enum news news = NEWS_NONE;
    struct error err = ERROR_INIT;
    if (!line->client && now < line->retry)
        return NEWS_NONE;
    if (!line->client)
        call(lines, host, line);
    if (!line->client)
        return NEWS_FULL;
    if (!read_all(host, line, &news, &err)) {
        fail(host, line, client_is_lost(line->client) ? state_of(line->client) : HOST_DOWN,
             why_of(line->client, err.text));
        return NEWS_FULL;
    }
    if (now < line->give_up)
        return news;
    fail(host, line, HOST_DOWN, "it does not answer");
    return NEWS_FULL;
}

enum news host_lines_step(struct host_lines *lines)
{
    struct hosts *hosts = &lines->ui->hosts;
    enum news news = NEWS_NONE;
    for (int i = 0; i < hosts->count; i++) {
        if (!hosts->shown) {
            hang_up(&lines->line[i]);
            lines->line[i].pause = 0;
            continue;
        }
        enum news of_host = step(lines, &hosts->host[i], &lines->line[i]);
        news = of_host > news ? of_host : news;
    }
    return news;
}
