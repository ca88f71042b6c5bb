/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/*
 * One viewer: its socket, the bytes read that are no whole line yet, the bytes it has not taken
 * yet, and what it wants to hear. Used by the server's thread alone. What a viewer that does not
 * read can make the engine keep is bounded: requests are read, and events and states are added,
 * only while little output waits.
 */

#define CONNECTION_FOLLOWS   8
#define CONNECTION_OUT_QUIET ((size_t)64 << 10)  /* below this, events are added */
#define CONNECTION_OUT_BUSY  ((size_t)256 << 10) /* above this, no request is read */

/* The error codes of docs/protocol.md. */
enum rpc_code {
    RPC_OK = 0,
    RPC_NOT_JSON = -32700,
    RPC_NO_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_FAILED = -32000,
    RPC_NO_RUN = -32001,
    RPC_NO_PLACE = -32002,
};

struct follow {
    long run;
    uint64_t next; /* number of the next event to send */
    bool steps;    /* wants the steps too */
};

struct task;
/* Result (a new reference) or an error; called on a separate thread (task.h). */
typedef bool task_work(struct task *task, const json_t *params, json_t **result, struct error *err);

/* A request for something that is computed on a separate thread. */
struct request {
    task_work *work;    /* NULL: none */
    const char *method; /* its name */
    bool in_order;      /* later requests of the same viewer wait for it */
    bool alone;         /* one at a time, of all viewers, and outside of their budget */
    json_t *id;         /* NULL: a notification, nobody waits for the answer */
    json_t *params;
};

struct connection {
    uint64_t id; /* never used twice */
    int fd;
    struct text in, out;
    size_t in_scanned;      /* bytes of `in` known to hold no newline */
    double since, active;   /* when it was accepted; last asked, or took what waited for it */
    bool asked;             /* it has sent a whole request */
    bool input_ended;       /* the viewer has shut down its side */
    bool lost;              /* to be closed as soon as the loop comes by */
    bool close_flushed;     /* to be closed once `out` is taken */
    int tasks;              /* requests running on their own threads */
    bool in_order;          /* one of them must finish before the next request is read */
    struct request waiting; /* for the budget; nothing is read meanwhile */
    int follow_count;
    struct follow follow[CONNECTION_FOLLOWS];
    bool watching;
    bool more_events;                   /* kept events wait for room in `out` */
    double interval;                    /* seconds between states at least */
    double next_state, next_idle_state; /* when the next may go out; without a run */
    uint64_t state_version, state_changes;
    uint64_t next_mark;    /* of the queue's marks */
    uint64_t next_message; /* of the engine's log */
};

struct connection *connection_new(int fd, uint64_t id);
void connection_free(struct connection *connection);

/* Take in what there is to read, at most one line's worth beyond what is there. */
void connection_read(struct connection *connection);

/*
 * The next whole line, NUL-terminated in place, or NULL. Valid until the next call on the
 * connection.
 */
char *connection_line(struct connection *connection, size_t *length);

/* Bytes of the line just handled are dropped. */
void connection_drop_line(struct connection *connection, size_t length);

/* Send what the socket takes. */
void connection_flush(struct connection *connection);

/* One message (stolen) or ready text as a line of output. */
void connection_put(struct connection *connection, json_t *message);
void connection_put_event(struct connection *connection, const char *params, size_t length);

/* Responses; `id` is borrowed and may be NULL (sent as null), `result` is stolen. */
void connection_put_result(struct connection *connection, json_t *id, json_t *result);
void connection_put_error(struct connection *connection, json_t *id, int code, const char *text);

/* May requests be read and handled now? */
bool connection_accepts(const struct connection *connection);

/* Nothing more will come of it. */
bool connection_is_over(const struct connection *connection);
