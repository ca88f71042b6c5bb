/* SPDX-License-Identifier: MIT */
#include "engine/server/server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/backends/registry.h"
#include "engine/server/history/open.h"
#include "engine/server/listen.h"
#include "engine/server/queue/runner.h"
#include "engine/server/requests.h"
#include "engine/server/viewers/connections.h"
#include "engine/server/viewers/costs.h"
#include "engine/server/viewers/notify.h"
#include "engine/server/viewers/work.h"
#include "engine/train/checkpoint/deletion.h"
#include "engine/train/checkpoint/folder.h"
#include "system/affinity.h"
#include "system/shell.h"

/* Events are handed out this often, in seconds, however fast they come. */
#define EVENT_INTERVAL 0.02
/* How long answers may wait for their viewers once the engine has nothing else to do. */
#define FLUSH_SECONDS 1.0
/* How long an engine that leaves a hanging thread behind still writes into the store. */
#define HISTORY_SECONDS 5.0
/* How long to wait at the start for an engine that is about to end. */
#define LOCK_SECONDS 30.0

/* Three places before the connections'. */
enum { POLL_WAKE, POLL_SIGNAL, POLL_LISTEN, POLL_CONNECTIONS };

struct poll_set {
    struct pollfd fds[POLL_CONNECTIONS + CONNECTION_LIMIT];
    int count;
    double until; /* when to look again whatever happens */
};

static void look_again(struct poll_set *set, double when)
{
    if (when < set->until)
        set->until = when;
}

static void prepare_poll(struct server *server, struct poll_set *set, double now)
{
    server_pay(server, now);
    bool taking = budget_allows(&server->budget, BUDGET_ANSWERS);
    bool listening = server->listener.fd >= 0 && now >= server->accept_again && taking;
    set->until = now + 3600;
    set->fds[POLL_WAKE] = (struct pollfd){.fd = server->wake_fd, .events = POLLIN};
    set->fds[POLL_SIGNAL] = (struct pollfd){.fd = server->options->signal_fd, .events = POLLIN};
    set->fds[POLL_LISTEN] =
        (struct pollfd){.fd = listening ? server->listener.fd : -1, .events = POLLIN};
    if (server->listener.fd >= 0 && now < server->accept_again)
        look_again(set, server->accept_again);
    if (!taking)
        look_again(set, budget_allows_at(&server->budget, BUDGET_ANSWERS));
    if (atomic_load(&server->wake_set))
        look_again(set, server->serve_events);
    if (server->leave_by > 0)
        look_again(set, server->leave_by);
    if (server->options->private_fd < 0 && !server->leaving)
        look_again(set, server->check_socket);
    for (int i = 0; i < server->connection_count; i++) {
        struct connection *connection = server->connections[i];
        bool lines = taking && server_has_lines(connection);
        bool reads = taking && !connection->input_ended && !lines && connection_accepts(connection);
        set->fds[POLL_CONNECTIONS + i] = (struct pollfd){
            .fd = connection->fd,
            .events = (short)((reads ? POLLIN : 0) | (connection->out.length ? POLLOUT : 0))};
        if (lines || (connection->more_events && !connection->out.length))
            look_again(set, now);
        if (connection->waiting.work)
            look_again(set, budget_allows_at(&server->budget, BUDGET_WORK));
        if (connection->watching && !connection->out.length)
            look_again(set, connection->next_state);
    }
    set->count = POLL_CONNECTIONS + server->connection_count;
}

static bool wait_for_something(struct poll_set *set, double now, struct error *err)
{
    double wait = set->until - now;
    int milliseconds = wait <= 0 ? 0 : (int)(wait * 1000) + 1;
    if (poll(set->fds, (nfds_t)set->count, milliseconds) >= 0)
        return true;
    for (int i = 0; i < set->count; i++)
        set->fds[i].revents = 0;
    return errno == EINTR || error_errno(err, "cannot poll");
}

static void take_signals(struct server *server)
{
    struct signalfd_siginfo info;
    while (read(server->options->signal_fd, &info, sizeof info) == sizeof info) {
        server->end_signals++;
        server_leave(server, server->end_signals > 1 ? RUN_STOP_NOW : RUN_STOP_STEP);
        if (server->end_signals > 2)
            server->leave_by = clock_seconds();
    }
}

/* Are there events that other threads left, and is it time to hand them out? */
static bool events_are_due(struct server *server, double now)
{
    if (!atomic_load(&server->wake_set) || now < server->serve_events)
        return false;
    /* Before looking: what comes from here on wakes the loop again. */
    atomic_store(&server->wake_set, false);
    server->serve_events = now + EVENT_INTERVAL;
    return true;
}

/* False: there was no request, or none that the budget allows. */
static bool serve_connection(struct server *server, struct connection *connection, short revents,
                             bool due, double now)
{
    if (!(revents & POLLIN) && (revents & (POLLHUP | POLLERR | POLLNVAL)))
        connection->lost = true;
    const bool full = connection->out.length > 0;
    bool taken = server_start_waiting(server, connection);
    taken |= server_take_requests(server, connection, revents & POLLIN);
    if (due || revents || taken || connection->more_events)
        server_add_events(server, connection);
    connection_flush(connection);
    server_add_state(server, connection, now);
    connection_flush(connection);
    /* What its tasks had to say meanwhile was left where it is. */
    if (full && !connection->out.length && connection->tasks > 0)
        atomic_store(&server->wake_set, true);
    return taken;
}

static void serve(struct server *server, const struct poll_set *set)
{
    double now = clock_seconds();
    uint64_t ignored;
    int polled = set->count - POLL_CONNECTIONS;
    if ((set->fds[POLL_WAKE].revents & POLLIN) &&
        read(server->wake_fd, &ignored, sizeof ignored) < 0 && errno != EAGAIN)
        engine_log(&server->log, MESSAGE_WARNING, 0, "cannot read the wake-up count: %s",
                   strerror(errno));
    if (set->fds[POLL_SIGNAL].revents & POLLIN)
        take_signals(server);
    bool due = events_are_due(server, now);
    if (due) {
        engine_log_write(&server->log);
        server_serve_tasks(server);
    }
    /* Whoever comes after the last one served is first the next time. */
    for (int i = 0, first = server->next_turn; i < polled; i++) {
        int at = (first + i) % polled;
        if (serve_connection(server, server->connections[at],
                             set->fds[POLL_CONNECTIONS + at].revents, due, now))
            server->next_turn = at + 1;
    }
    for (int i = server->connection_count - 1; i >= 0; i--)
        if (connection_is_over(server->connections[i]))
            server_drop_connection(server, i);
    if (set->fds[POLL_LISTEN].revents & POLLIN && server->listener.fd >= 0)
        server_accept_connections(server, now);
    server_check_socket(server, now);
}

static bool output_waits(const struct server *server)
{
    for (int i = 0; i < server->connection_count; i++)
        if (server->connections[i]->out.length)
            return true;
    return false;
}

/* The loop's condition: false when the engine may end. */
static bool must_continue(struct server *server)
{
    if (!server->leaving)
        return true;
    if (server->leave_by > 0 && clock_seconds() >= server->leave_by)
        return false;
    if (server->tasks || !queue_has_left(&server->queue) || atomic_load(&server->wake_set))
        return true;
    if (!output_waits(server))
        return false;
    if (server->leave_by <= 0)
        server->leave_by = clock_seconds() + FLUSH_SECONDS;
    return true;
}

/* Has a viewer come, said something, or left? */
static bool heard_something(const struct poll_set *set)
{
    for (int i = POLL_LISTEN; i < set->count; i++)
        if (set->fds[i].revents & (POLLIN | POLLHUP | POLLERR))
            return true;
    return false;
}

static bool loop(struct server *server, struct error *err)
{
    struct poll_set set;
    while (must_continue(server)) {
        double now = clock_seconds();
        server_reset_costs(server);
        prepare_poll(server, &set, now);
        if (!wait_for_something(&set, now, err))
            return false;
        serve(server, &set);
        /* Many short messages cost more around them than by themselves. */
        if (heard_something(&set))
            server_charge_costs(server, BUDGET_ANSWERS);
    }
    return true;
}

static bool has_run(void *context, long run)
{
    struct error err = ERROR_INIT;
    json_t *object = NULL;
    bool shown = history_show(context, run, &object, &err);
    json_decref(object);
    return shown || err.kind != ERROR_ABSENT;
}

/*
 * Where new runs may write checkpoints: only when no number can be given a second time. Without the
 * store the numbers of earlier runs are not known; one that was set aside has left their
 * checkpoints.
 */
static const char *checkpoint_folder(struct server *server, struct stored_runs *past)
{
    const struct server_options *options = server->options;
    struct error err = ERROR_INIT;
    bool known = server->history || !options->store_path;
    if (!options->checkpoints)
        return NULL;
    if (!known)
        error_set(&err, ERROR_FAILED, "the numbers of earlier runs are not known");
    if (server->history &&
        !checkpoint_settle_deletions(options->checkpoints, has_run, server->history, &err))
        engine_log(&server->log, MESSAGE_WARNING, 0, "%s", err.text);
    if (known && checkpoint_tidy(options->checkpoints, &past->last_number, &err))
        return options->checkpoints;
    engine_log(&server->log, MESSAGE_ERROR, 0,
               "%s: no checkpoints are written: they could replace those of earlier runs",
               err.text);
    return NULL;
}

static bool start_queue(struct server *server, struct error *err)
{
    const struct server_options *options = server->options;
    struct stored_runs past = {.last_number = 0};
    if (options->store_path)
        history_start(options->store_path, &server->log, &server->history, &past);
    else if (options->no_store)
        history_refuse(options->no_store, &server->log, &past);
    if (!history_claim(server->history != NULL, options->store_path,
                       server->listener.address.sun_path, err)) {
        json_decref(past.runs);
        json_decref(past.interrupted);
        return false;
    }
    snprintf(server->trouble, sizeof server->trouble, "%s", past.trouble);
    const char *checkpoints = checkpoint_folder(server, &past);
    server->notifier = notifier_start(&server->log, NOTIFY_SECONDS, err);
    bool ok =
        server->notifier && queue_start(&server->queue, options->version, checkpoints, &server->log,
                                        server->history, &past, server_wake, server, err);
    json_decref(past.runs);
    server->interrupted = past.interrupted;
    server->queue.nvml = server->nvml;
    server->queue.notifier = server->notifier;
    server->queue.places_note = options->places_note;
    if (options->places_note)
        engine_log(&server->log, MESSAGE_WARNING, 0, "%s", options->places_note);
    return ok;
}

static bool start_survey(struct server *server, struct error *err)
{
    const char *why = "";
    const struct backend *backend = backend_find(DEVICE_CUDA, &why);
    return gpu_survey_start(&server->survey, backend, why, &server->log, err);
}

/* Not beside an engine whose store it is, which has only lost its socket. */
static bool may_listen(const void *context, const char *socket, struct error *err)
{
    return history_claim(false, context, socket, err);
}

static bool set_up(struct server *server, struct error *err)
{
    const struct server_options *options = server->options;
    const struct nvml_options gpus = nvml_environment();
    const struct listener_permit permit = {may_listen, options->store_path};
    server->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (server->wake_fd < 0)
        return error_errno(err, "cannot make an event descriptor");
    if (options->private_fd >= 0
            ? !server_add_connection(server, options->private_fd, err)
            : !listener_open(&server->listener, &server->log, LOCK_SECONDS, &permit, err))
        return false;
    if (!affinity_cpus(&server->cpus, &server->cpu_count, err))
        return false;
    budget_begin(&server->budget, server->cpu_count, clock_seconds());
    return device_table_fill(&server->devices, err) &&
           telemetry_start(&server->telemetry, options->system_root ? options->system_root : "/",
                           server->cpus, server->cpu_count, err) &&
           nvml_start(&server->nvml, &gpus, err) && start_survey(server, err) &&
           start_queue(server, err);
}

/* False: a thread hangs in a driver. */
static bool tear_down(struct server *server)
{
    /* First: nobody is answered any more, and a client that waits for the engine's end by its
     * connection then finds the store closed. */
    listener_close(&server->listener);
    history_stop(server->history);
    while (server->connection_count > 0)
        connection_free(server->connections[--server->connection_count]);
    telemetry_stop(server->telemetry);
    bool ended = nvml_stop(server->nvml);
    ended &= gpu_survey_stop(server->survey);
    listener_release(&server->listener);
    /* Last: nobody waits for the commands that it still runs, the next engine neither. */
    notifier_end(server->notifier);
    if (server->wake_fd >= 0)
        close(server->wake_fd);
    engine_log_end(&server->log);
    json_decref(server->interrupted);
    free(server->cpus);
    free(server);
    return ended;
}

bool server_run(const struct server_options *options, enum server_end *end, struct error *err)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server)
        return error_memory(err, "server");
    server->options = options;
    server->listener = (struct listener)LISTENER_INIT;
    server->wake_fd = -1;
    engine_log_begin(&server->log, options->log_fd, server_wake, server);
    server->log.own = options->own_log;
    *end = SERVER_ENDED;
    if (!set_up(server, err)) {
        *end = tear_down(server) ? SERVER_ENDED : SERVER_HELD;
        return false;
    }
    engine_log(&server->log, MESSAGE_INFO, 0, "engine %s, process %d, is ready", options->version,
               (int)getpid());
    bool ok = loop(server, err);
    engine_log_write(&server->log);
    if (!ok || server->tasks || !queue_has_left(&server->queue)) {
        listener_close(&server->listener);
        history_finish(server->history, HISTORY_SECONDS);
        *end = SERVER_ABANDONED;
        return ok;
    }
    bool ended = queue_free(&server->queue);
    engine_log(&server->log, MESSAGE_INFO, 0, "the engine ends");
    ended &= tear_down(server);
    *end = ended ? SERVER_ENDED : SERVER_HELD;
    return true;
}
