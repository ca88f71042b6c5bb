/* SPDX-License-Identifier: MIT */
#include "ui/app/link.h"

#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/open.h"
#include "ui/app/reach.h"
#include "ui/app/recording.h"
#include "ui/control/engine.h"

/* While a run trains there is a state every second, and an answer takes no longer. */
#define SILENCE_S 5.0

/* More than are ever open: each marked run may be asked for at once. */
enum { PENDING = 2 * UI_MARKS, MESSAGES_A_STEP = 256 };

struct link {
    struct ui *ui;
    struct client *client; /* NULL: not connected */
    struct {
        long id;
        enum request request;
    } pending[PENDING];
    int pending_count;
    struct recording *recording; /* NULL: none */
    struct reach reach;
    bool more;    /* messages may be here that poll() knows nothing of */
    double heard; /* when the engine last said something, or began to owe an answer */
};

/* The oldest is dropped: an engine that leaves so many open will not answer it either. */
static void remember(struct link *link, long id, enum request request)
{
    if (link->pending_count == PENDING) {
        for (int i = 1; i < PENDING; i++)
            link->pending[i - 1] = link->pending[i];
        link->pending_count--;
    }
    link->pending[link->pending_count].id = id;
    link->pending[link->pending_count++].request = request;
}

static bool recall(struct link *link, long id, enum request *request)
{
    for (int i = 0; i < link->pending_count; i++)
        if (link->pending[i].id == id) {
            *request = link->pending[i].request;
            link->pending[i] = link->pending[--link->pending_count];
            return true;
        }
    return false;
}

/* Say once that the recording has failed; the run does not need it. */
static void tell_end(struct link *link, const struct error *err)
{
    ui_log_local(link->ui, LOG_ERROR, "%s", err->text);
    ui_say(link->ui, true, "%s", err->text);
}

static void record(struct link *link, const json_t *message)
{
    struct error err = ERROR_INIT;
    if (!recording_put(link->recording, message, &err))
        tell_end(link, &err);
}

static void record_connection(struct link *link, const char *advice)
{
    struct error err = ERROR_INIT;
    if (!recording_put_connection(link->recording, advice, &err))
        tell_end(link, &err);
}

static void record_request(struct link *link, long id, enum request request, json_t *params)
{
    json_t *message = json_pack("{s:I, s:s, s:o?}", "id", (json_int_t)id, "method",
                                request_method(request), "params", params);
    if (message)
        record(link, message);
    json_decref(message);
}

/* Is there something that the engine should say before long? An evaluation may take its time. */
static bool expects(const struct link *link)
{
    const struct state_live *live = &link->ui->state.live;
    int due = 0;
    for (int i = 0; i < link->pending_count; i++)
        due += link->pending[i].request != REQUEST_EVALUATE;
    return due > 0 || (live->run != 0 && live->status == RUN_RUNNING);
}

static bool send_request(void *context, enum request request, json_t *params, struct error *err)
{
    struct link *link = context;
    long id;
    if (!link->client) {
        json_decref(params);
        return error_set(err, ERROR_FAILED, "there is no engine to ask");
    }
    json_t *kept = link->recording ? json_deep_copy(params) : NULL;
    if (!client_send(link->client, request_method(request), params, &id, err)) {
        json_decref(kept);
        return false;
    }
    if (!expects(link))
        link->heard = clock_seconds();
    remember(link, id, request);
    if (link->recording)
        record_request(link, id, request, kept);
    return true;
}

bool link_open(struct link **out, struct ui *ui, const struct remote *remote, struct error *err)
{
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return error_memory(err, "the line to the engine");
    link->ui = ui;
    reach_init(&link->reach, ui, remote);
    ui->requester = (struct requester){send_request, link};
    *out = link;
    return true;
}

void link_close(struct link *link)
{
    if (!link)
        return;
    link->ui->requester = (struct requester){0};
    client_close(link->client);
    free(link);
}

struct pollfd link_poll(const struct link *link)
{
    return link->client ? client_poll(link->client) : (struct pollfd){.fd = -1, .events = POLLIN};
}

bool link_quiet(const struct link *link)
{
    return link->pending_count == 0;
}

double link_deadline(const struct link *link)
{
    if (!link->client || link->reach.opening)
        return reach_deadline(&link->reach);
    if (link->more)
        return 0;
    return expects(link) && !link->ui->silent ? link->heard + SILENCE_S : INFINITY;
}

static void connected(struct link *link)
{
    reach_done(&link->reach);
    link->pending_count = 0;
    if (link->recording)
        record_connection(link, NULL);
    ui_connected(link->ui);
}

void link_record(struct link *link, struct recording *recording)
{
    link->recording = recording;
}

void link_look(struct link *link)
{
    struct error err = ERROR_INIT;
    if (client_connect(&link->client, &err)) {
        connected(link);
        return;
    }
    link->client = NULL;
    ui_disconnected(link->ui, LINK_NO_ENGINE,
                    err.kind == ERROR_ABSENT ? "no engine runs: `dpartui` starts one" : err.text);
}

void link_change(struct link *link, const struct remote *remote)
{
    client_drop(link->client);
    link->client = NULL;
    link->pending_count = 0;
    link->more = false;
    reach_init(&link->reach, link->ui, remote);
    if (link->recording)
        record_connection(link, "another host was opened");
}

bool link_reach(struct link *link, struct error *err)
{
    if (!link->reach.remote.host)
        return true;
    if (!reach_first(&link->reach, &link->client, err)) {
        link->client = NULL;
        return false;
    }
    /* What the first frame needs is asked for at once: it comes after one way there and back. */
    connected(link);
    return reach_await(&link->reach, link->client, err);
}

static void lost(struct link *link, const struct error *err)
{
    reach_lost(&link->reach, link->client, err);
    client_drop(link->client);
    link->client = NULL;
    link->pending_count = 0;
    if (link->recording)
        record_connection(link, link->ui->link_advice);
}

static bool is_point(const json_t *message)
{
    const json_t *params = json_object_get(message, "params");
    const char *event = json_string_value(json_object_get(params, "event"));
    return event && (strcmp(event, "point") == 0 || strcmp(event, "epoch") == 0);
}

static void take_message(struct link *link, const json_t *message)
{
    const json_t *id = json_object_get(message, "id");
    struct error failure = ERROR_INIT;
    json_t *result = NULL;
    enum request request;
    if (link->recording)
        record(link, message);
    if (!json_is_integer(id)) {
        ui_notification(link->ui, message);
        return;
    }
    if (!recall(link, (long)json_integer_value(id), &request))
        return;
    if (!client_response(message, &result, &failure))
        result = NULL;
    ui_answer(link->ui, request, result, &failure);
}

/* After the messages that there were; returns whether this is news. */
static bool listen(struct link *link, bool heard)
{
    double now = clock_seconds();
    if (heard) {
        link->heard = now;
        link->ui->silent = false;
    } else if (expects(link) && !link->ui->silent && now >= link->heard + SILENCE_S) {
        ui_silence(link->ui);
        return true;
    }
    return false;
}

static enum news weigh(const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    if (is_point(message))
        return NEWS_SMALL;
    return method && strcmp(method, "state") == 0 ? NEWS_STATE : NEWS_FULL;
}

/* A long list takes megabytes while it is read; they are not to stay with the process. */
static void release(json_t *message)
{
    bool is_long = json_array_size(json_object_get(message, "result")) > 100;
    json_decref(message);
#ifdef __GLIBC__
    if (is_long)
        malloc_trim(0);
#else
    (void)is_long;
#endif
}

static bool try_to_reach(struct link *link)
{
    bool news = reach_step(&link->reach, &link->client);
    if (link->client && !link->reach.opening)
        connected(link);
    return news;
}

enum news link_step(struct link *link)
{
    bool heard = false;
    enum news news = NEWS_NONE;
    if (!link->client || link->reach.opening)
        news = try_to_reach(link) ? NEWS_FULL : NEWS_NONE;
    if (!link->client)
        return news;
    if (!link->reach.opening)
        link->ui->want_engine = false;
    link->more = true;
    for (int i = 0; i < MESSAGES_A_STEP; i++) {
        struct error err = ERROR_INIT;
        json_t *message = NULL;
        if (!client_next(link->client, &message, &err)) {
            lost(link, &err);
            return NEWS_FULL;
        }
        if (!message) {
            link->more = false;
            break;
        }
        if (link->reach.opening)
            connected(link);
        heard = true;
        take_message(link, message);
        enum news weight = weigh(message);
        news = weight > news ? weight : news;
        release(message);
    }
    return listen(link, heard) ? NEWS_FULL : news;
}
