/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "engine/nvml/nvml.h"
#include "engine/server/devices/table.h"
#include "engine/server/queue/queue.h"
#include "engine/server/socket/budget.h"
#include "engine/server/socket/connection.h"
#include "engine/server/socket/listener.h"
#include "engine/server/socket/places.h"
#include "engine/server/tasks/task.h"
#include "engine/server/viewers/options.h"
#include "engine/telemetry/telemetry.h"

/*
 * The parts of the server. Only its own thread uses them, except for those that have a lock. What a
 * group of fields belongs to is named before it; others read them.
 */
struct server {
    const struct server_options *options;
    struct engine_log log;
    struct history *history;      /* NULL: runs are not kept */
    char trouble[HISTORY_NOTICE]; /* of stored_runs */
    struct queue queue;
    json_t *interrupted; /* runs that the engine before has left, until a user hears; may be NULL */
    long left_out;       /* how many runs the newest list of all had no room for */
    struct notifier *notifier;
    /* The machine. */
    struct telemetry *telemetry;
    struct nvml *nvml;
    struct gpu_survey *survey;
    struct gpu_list gpus;        /* what was last read of them */
    struct device_table devices; /* the CPU devices */
    int *cpus;                   /* logical CPUs this process may use */
    int cpu_count;
    /* connections.c */
    struct connection *connections[CONNECTION_LIMIT];
    int connection_count;
    uint64_t last_connection;
    double accept_again; /* no descriptors left: when to try again */
    double say_full;     /* all places are taken: when to say so again */
    /* costs.c */
    struct budget budget;
    double charged; /* up to here of this thread's processor time */
    /* work.c */
    struct task *tasks;
    int task_count;
    /* listen.c */
    struct listener listener;
    double check_socket; /* when to see whether viewers still find us */
    bool unfound;        /* they do not: another engine has our place */
    /* The loop. */
    int wake_fd;          /* an eventfd that other threads write to ... */
    atomic_bool wake_set; /* ... unless they have since the loop last looked */
    double serve_events;  /* when events may be handed out again */
    int next_turn;        /* of the connections: whose requests come first */
    int end_signals;
    bool leaving;
    double leave_by; /* when to give up on what still hangs; 0: wait for it */
};

/* What is wrong with the run store, or null. */
json_t *server_trouble_json(const struct server *server);

/* Have the loop look again soon; any thread, the context is the server. */
void server_wake(void *context);
/* Begin to end: stop the runs, take no more viewers. May be called again to be more urgent. */
void server_leave(struct server *server, enum run_stop how);
