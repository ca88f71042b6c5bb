/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_SERVER_STATE_H
#define DPARTUI_ENGINE_SERVER_SERVER_STATE_H

#include <stdatomic.h>

#include "engine/server/connection.h"
#include "engine/server/devices.h"
#include "engine/server/listener.h"
#include "engine/server/queue.h"
#include "engine/server/server.h"
#include "engine/server/task.h"
#include "engine/telemetry.h"
#include "engine/telemetry/nvml.h"

/* The parts of a server, shared by the files of this folder and by nobody else. */

#define CONNECTION_LIMIT 64

/*
 * What viewers may cost a run: a share of the machine's time, which is saved up for a moment. While
 * it is used up, requests wait; events and states do not.
 */
struct request_budget {
    double seconds; /* of the processor; below 0: used up */
    double counted; /* when that was brought up to date */
};

struct server {
    const struct server_options *options;
    struct engine_log log;
    struct keeper *keeper; /* NULL: runs are not kept */
    struct queue queue;
    struct telemetry *telemetry;
    struct nvml *nvml;
    struct gpu_survey *survey;
    struct gpu_list gpus;        /* what was last read of them */
    struct device_table devices; /* the CPU devices */
    int *cpus;                   /* logical CPUs this process may use */
    int cpu_count;
    struct listener listener;
    struct connection *connections[CONNECTION_LIMIT];
    int connection_count;
    uint64_t last_connection;
    struct task *tasks;
    int task_count;
    int wake_fd;          /* an eventfd that other threads write to ... */
    atomic_bool wake_set; /* ... unless they have since the loop last looked */
    double serve_events;  /* when events may be handed out again */
    double accept_again;  /* no descriptors left: when to try again */
    double check_socket;  /* when to see whether viewers still find us */
    bool unfound;         /* they do not: another engine has our place */
    struct request_budget budget;
    int end_signals;
    bool leaving;
    double leave_by; /* when to give up on what still hangs; 0: wait for it */
};

/* methods.c: handle one line of a viewer. */
void server_handle_line(struct server *server, struct connection *connection, const char *line,
                        size_t length);

/* notify.c: add what is due to a viewer's output. */
void server_add_events(struct server *server, struct connection *connection);
void server_add_state(struct server *server, struct connection *connection, double now);
/* After any change of who follows what. */
void server_count_followers(struct server *server);

/* state.c: the state notification's parameters. */
json_t *server_state_json(struct server *server);

/* listen.c: listen again where viewers look now; an idle engine that nobody can find ends. */
void server_check_socket(struct server *server, double now);

/* server.c: begin to end; have the loop look again soon (any thread; the context is the server). */
void server_leave(struct server *server, enum run_stop how);
void server_wake(void *context);

/* viewers.c: connections and the requests that work on threads of their own. */
bool server_add_connection(struct server *server, int fd, struct error *err);
void server_accept_connections(struct server *server, double now);
void server_drop_connection(struct server *server, int index);
/* Bring the budget up to date; when requests may be read again, 0: now. */
double server_requests_wait(struct server *server, double now);
/* Read, and handle what there is, on the budget. */
void server_take_requests(struct server *server, struct connection *connection, bool readable);
/* Seconds of the processor that the calling thread has had. */
double server_processor_seconds(void);
/* Could server_take_requests go on without reading? */
bool server_has_lines(const struct connection *connection);
/* Takes over id and params; answers with an error when the task cannot be started. */
void server_start_task(struct server *server, struct connection *connection, task_work *work,
                       bool barrier, json_t *id, json_t *params);
/* Hand out progress and results of tasks. */
void server_serve_tasks(struct server *server);

#endif
