/* SPDX-License-Identifier: MIT */
#include "engine/server/viewers/notify.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "engine/server/viewers/state.h"

/* Without a run, states only show a new load or use of memory, and no more often than this. */
#define IDLE_INTERVAL 2.0

/* `run` 0: events of several runs, sent as null. */
static void put_gap(struct connection *connection, long run, uint64_t missed)
{
    char text[96], number[24] = "null";
    if (run)
        snprintf(number, sizeof number, "%ld", run);
    int length = snprintf(text, sizeof text, "{\"event\":\"gap\",\"run\":%s,\"missed\":%llu}",
                          number, (unsigned long long)missed);
    connection_put_event(connection, text, (size_t)length);
}

static bool has_room(const struct connection *connection)
{
    return connection->out.length < CONNECTION_OUT_QUIET && !connection->lost;
}

/* With the queue's lock held. False: the follower has heard all there will ever be. */
static bool add_followed(struct server *server, struct connection *connection,
                         struct follow *follow)
{
    const struct record *record = queue_find(&server->queue, follow->run);
    if (!record)
        return false;
    while (has_room(connection)) {
        const struct kept_event *event =
            event_buffer_find(&record->events, follow->next, follow->steps);
        if (!event)
            return !record->ended;
        const uint64_t base = record->events.base;
        const uint64_t due = follow->next < base ? base : follow->next;
        if (follow->steps && event->number > due)
            put_gap(connection, follow->run, event->number - due);
        connection_put_event(connection, event->text, event->length);
        follow->next = event->number + 1;
    }
    return true;
}

/*
 * Does the connection hear of this event because it follows the run? Followers hear of all but the
 * points. (Marks are rare enough to be parsed.)
 */
static bool follows(const struct connection *connection, const char *params)
{
    json_t *event = json_read(params, strlen(params), 0, NULL);
    const char *name = json_string_value(json_object_get(event, "event"));
    long run = (long)json_integer_value(json_object_get(event, "run"));
    bool found = false;
    for (int i = 0; i < connection->follow_count; i++)
        found |= connection->follow[i].run == run;
    found = found && name && strcmp(name, "point") != 0;
    json_decref(event);
    return found;
}

/* With the queue's lock held: what is no step, but of runs followed anyway only the points. */
static void add_marks(struct server *server, struct connection *connection)
{
    while (has_room(connection)) {
        const struct kept_event *event =
            event_buffer_find(&server->queue.marks, connection->next_mark, true);
        if (!event)
            return;
        if (event->number > connection->next_mark)
            put_gap(connection, 0, event->number - connection->next_mark);
        if (!follows(connection, event->text))
            connection_put_event(connection, event->text, event->length);
        connection->next_mark = event->number + 1;
    }
}

/* Messages of the engine for a viewer that watches. */
static void add_messages(struct server *server, struct connection *connection)
{
    json_t *message;
    while (has_room(connection) &&
           (message = engine_log_take(&server->log, &connection->next_message)))
        connection_put(connection, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", "log",
                                             "params", message));
}

void server_count_followers(struct server *server)
{
    int followers = 0;
    for (int i = 0; i < server->connection_count; i++)
        for (int j = 0; j < server->connections[i]->follow_count; j++)
            followers += server->connections[i]->follow[j].steps;
    atomic_store(&server->queue.followers, followers);
}

void server_add_events(struct server *server, struct connection *connection)
{
    if (connection->watching)
        add_messages(server, connection);
    pthread_mutex_lock(&server->queue.lock);
    if (connection->watching)
        add_marks(server, connection);
    int kept = 0;
    for (int i = 0; i < connection->follow_count; i++)
        if (add_followed(server, connection, &connection->follow[i]))
            connection->follow[kept++] = connection->follow[i];
    connection->more_events = !has_room(connection);
    bool fewer = kept != connection->follow_count;
    connection->follow_count = kept;
    pthread_mutex_unlock(&server->queue.lock);
    if (fewer)
        server_count_followers(server);
}

void server_add_state(struct server *server, struct connection *connection, double now)
{
    if (!connection->watching || connection->out.length)
        return;
    pthread_mutex_lock(&server->queue.lock);
    uint64_t version = server->queue.version, changes = server->queue.changes;
    bool running = queue_running(&server->queue);
    pthread_mutex_unlock(&server->queue.lock);
    /* Starts, pauses and ends are sent with their event, not a second later. */
    if (now < connection->next_state && changes == connection->state_changes)
        return;
    version += telemetry_version(server->telemetry) + nvml_version(server->nvml) +
               gpu_survey_version(server->survey);
    connection->next_state = now + connection->interval;
    if (version == connection->state_version)
        return;
    if (!running && changes == connection->state_changes && now < connection->next_idle_state)
        return;
    json_t *state = server_state_json(server);
    connection_put(connection, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", "state",
                                         "params", state));
    connection->state_version = version;
    connection->state_changes = changes;
    connection->next_idle_state = now + IDLE_INTERVAL;
}
