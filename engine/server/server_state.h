/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_SERVER_STATE_H
#define DPARTUI_ENGINE_SERVER_SERVER_STATE_H

#include <stdatomic.h>

#include "engine/nvml/nvml.h"
#include "engine/server/devices/table.h"
#include "engine/server/queue/queue.h"
#include "engine/server/server.h"
#include "engine/server/socket/budget.h"
#include "engine/server/socket/connection.h"
#include "engine/server/socket/listener.h"
#include "engine/server/socket/places.h"
#include "engine/server/tasks/task.h"
#include "engine/telemetry/telemetry.h"

/* The parts of a server, shared by the files of this folder and by the methods of protocol/. */

struct server {
    const struct server_options *options;
    struct engine_log log;
    struct history *history; /* NULL: runs are not kept */
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
    double say_full;      /* all places are taken: when to say so again */
    double check_socket;  /* when to see whether viewers still find us */
    bool unfound;         /* they do not: another engine has our place */
    int next_turn;        /* of the connections: whose requests are looked at first */
    struct budget budget;
    double charged; /* up to here of this thread's processor time */
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

/*
 * viewers.c: connections and what they may cost a run. While the budget is used up, requests wait;
 * events and states do not.
 */
bool server_add_connection(struct server *server, int fd, struct error *err);
void server_accept_connections(struct server *server, double now);
void server_drop_connection(struct server *server, int index);
/* Bring the budget up to date. */
void server_pay(struct server *server, double now);
/* What this thread has done since the last charge is free, or is charged. */
void server_forget_costs(struct server *server);
void server_charge_costs(struct server *server, enum budget_part part);
/* Read, and handle what there is, on the budget. False: nothing was looked at. */
bool server_take_requests(struct server *server, struct connection *connection, bool readable);
/* Could server_take_requests go on without reading? */
bool server_has_lines(const struct connection *connection);

/*
 * work.c: requests that work on threads of their own. Start one, or let it wait with its connection
 * until the budget allows it; takes over id and params. It is answered with an error when there are
 * too many, or when it cannot be started.
 */
void server_take_work(struct server *server, struct connection *connection,
                      const struct request *request);
/* Start what waits with the connection, if the budget allows it. False: it does not, or nothing
 * does. */
bool server_start_waiting(struct server *server, struct connection *connection);
/* Charge what tasks have had of the processor since they were last charged. */
void server_charge_tasks(struct server *server);
/* Hand out progress and results of tasks. */
void server_serve_tasks(struct server *server);

#endif
