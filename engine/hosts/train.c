/* SPDX-License-Identifier: MIT */
#include "engine/hosts/train.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/paths.h"
#include "config.h"
#include "engine/hosts/complaint.h"
#include "engine/hosts/launcher.h"
#include "engine/hosts/lines.h"
#include "engine/hosts/progress.h"
#include "spec/hosts.h"
#include "spec/json.h"

/* How often what is asked of the run is looked at. */
enum { LOOK_MS = 50 };

/* For a launcher to reach all hosts, and for the first to say something: as many times the limit of
 * their silence, and a little. */
static const double START_LIMITS = 4, START_S = 10;

/* For the launcher to end after the run (HOSTS_CLEARING_S is this and POLITE_S, and a little), and
 * for the run after it was told to stop at once. */
static const double END_S = 10;

/* For a launcher to end after SIGTERM: it has to reach all hosts, and does not where one is lost.
 */
static const double POLITE_S = 3, LOST_S = 0.5;

/* How often a launcher is started where one of its processes crashes before the run begins. Open
 * MPI 4.1 does so within MPI_Init, in about one of 200 starts by srun on busy hosts: a peer that is
 * ahead sends a message for which nothing is registered yet. */
enum { MOST_STARTS = 3 };

/* For a launcher to say what has failed: once it is asked to end, and while it ends by itself. */
static const double ASKED_S = 1, ENDS_S = 2;

struct conversation {
    const struct spec *spec;
    const struct run_keep *keep;
    struct run_control *control;
    const struct run_sink *sink;
    struct host_list hosts;
    struct launcher launcher;
    struct lines output, errors;
    struct run_device devices[SPEC_MAX_DEVICES];
    double heard; /* the first process, on clock_seconds; 0: not yet */
    double begin;
    double stop_at; /* when a run that was told to stop at once is ended; 0: it was not told */
    /* What the first process knows. */
    int stop;
    bool paused;
    bool said_end; /* it has said how it ended: */
    struct error end;
    struct complaint complaint;
    struct complaint before; /* of a start before this one, in which a process crashed */
};

/* What finds the same files on all hosts, and the settings of NCCL, but not which host it is on. */
static bool is_for_hosts(const char *name, size_t length)
{
    static const char *const names[] = {"DPARTUI_MODEL_PATH", "DPARTUI_DATA_DIR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    return strncmp(name, "NCCL_", 5) == 0 && strncmp(name, "NCCL_HOSTID=", 12) != 0;
}

/* What hosts need of the engine's environment. */
static json_t *environment(void)
{
    json_t *object = json_object();
    for (char **entry = environ; object && *entry; entry++) {
        const size_t length = strcspn(*entry, "=");
        if (!is_for_hosts(*entry, length) || !(*entry)[length])
            continue;
        char *name = strndup(*entry, length);
        json_t *value = json_any_text(*entry + length + 1);
        object = json_kept_if(json_object_set_new(object, name, value) == 0, object);
        free(name);
    }
    return object;
}

static bool say(struct conversation *c, json_t *object)
{
    return c->launcher.input >= 0 && lines_put(c->launcher.input, object);
}

static bool say_what_to_do(struct conversation *c, long run_number, struct error *err)
{
    const struct run_keep *keep = c->keep;
    json_t *object =
        json_pack("{s:o, s:I, s:s*, s:b, s:I, s:I, s:b, s:s, s:o}", "spec", spec_to_json(c->spec),
                  "run", (json_int_t)run_number, "checkpoints", keep->checkpoints, "resumes",
                  keep->resumes, "resume_steps", (json_int_t)keep->resume_steps, "measured_from",
                  (json_int_t)keep->measured_from, "syncs", keep->sync != NULL, "version",
                  PACKAGE_VERSION, "environment", environment());
    if (!object)
        return error_memory(err, "the run");
    /* A launcher that has ended already says why. */
    (void)say(c, object);
    return true;
}

static void warn_of_crash(const struct conversation *c)
{
    char text[640];
    snprintf(text, sizeof text, "the launcher was started again after a process had crashed: %s",
             c->before.crash);
    json_t *event = json_pack("{s:s, s:o}", "event", "warning", "text", json_any_text(text));
    if (event)
        c->sink->event(c->sink->context, event);
    json_decref(event);
}

static void take_event(struct conversation *c, json_t *event)
{
    const char *name = member_string(event, "event");
    const bool lost =
        strcmp(name, "end") == 0 && strcmp(member_string(event, "status"), "interrupted") == 0;
    if (!c->sink->event || lost)
        return;
    c->sink->event(c->sink->context, event);
    if (strcmp(name, "run") == 0 && *c->before.crash)
        warn_of_crash(c);
}

static void take_progress(struct conversation *c, const json_t *object)
{
    struct run_progress progress;
    if (c->sink->progress && progress_from_json(object, &c->spec->devices, c->devices, &progress))
        c->sink->progress(c->sink->context, &progress);
}

static void sync_store(struct conversation *c)
{
    struct error err = ERROR_INIT;
    const bool ok = !c->keep->sync || c->keep->sync(c->keep->sync_context, &err);
    (void)say(c, json_pack("{s:o}", "synced", ok ? json_null() : json_any_text(err.text)));
}

static void take_end(struct conversation *c, const json_t *end)
{
    const char *text = json_string_value(json_object_get(end, "error"));
    c->said_end = true;
    if (text)
        error_set(&c->end, (enum error_kind)member_integer(end, "kind"), "%s", text);
}

static void take_line(struct conversation *c, const char *line)
{
    json_t *object = json_read(line, strlen(line), 0, NULL);
    json_t *event = json_object_get(object, "event"), *end = json_object_get(object, "end");
    const json_t *progress = json_object_get(object, "progress");
    if (object)
        c->heard = clock_seconds();
    if (event)
        take_event(c, event);
    else if (progress)
        take_progress(c, progress);
    else if (json_object_get(object, "sync"))
        sync_store(c);
    else if (end)
        take_end(c, end);
    json_decref(object);
}

/* False: it has closed its output. */
static bool hear(struct conversation *c)
{
    struct pollfd fds[] = {{.fd = c->launcher.output, .events = POLLIN},
                           {.fd = c->launcher.errors, .events = POLLIN}};
    bool open = true;
    if (poll(fds, 2, LOOK_MS) <= 0)
        return true;
    if (fds[1].revents && !lines_fill(&c->errors, c->launcher.errors)) {
        close(c->launcher.errors);
        c->launcher.errors = -1;
    }
    if (fds[0].revents)
        open = lines_fill(&c->output, c->launcher.output);
    for (char *line; (line = lines_next(&c->errors));)
        complaint_take(&c->complaint, &c->hosts, line);
    for (char *line; (line = lines_next(&c->output));)
        take_line(c, line);
    return open;
}

/* What viewers have asked for since; changes only once the first process can hear of them. */
static void pass_on(struct conversation *c)
{
    const int stop = (int)run_control_stop_asked(c->control);
    const bool paused = atomic_load(&c->control->paused);
    const double lr = c->heard > 0 ? atomic_exchange(&c->control->lr, 0) : 0;
    long epochs = c->heard > 0 ? atomic_load(&c->control->epochs) : 0;
    while (epochs > 0 && !atomic_compare_exchange_weak(&c->control->epochs, &epochs, 0))
        ;
    if (epochs > 0)
        (void)say(c, json_pack("{s:I}", "epochs", (json_int_t)epochs));
    if (lr > 0)
        (void)say(c, json_pack("{s:f}", "lr", lr));
    if (paused != c->paused)
        (void)say(c, json_pack("{s:b}", "paused", paused));
    if (stop != c->stop)
        (void)say(c, json_pack("{s:i}", "stop", stop));
    c->paused = paused;
    c->stop = stop;
    if (stop == RUN_STOP_NOW && c->stop_at == 0)
        c->stop_at = clock_seconds() + END_S;
}

/* While a launcher ends, as another process has failed, nothing is heard of the first one. */
static bool complain_of_silence(struct conversation *c, double seconds, struct error *err)
{
    const double end = clock_seconds() + (*c->complaint.text ? ENDS_S : ASKED_S);
    if (!*c->complaint.text)
        launcher_ask_to_end(&c->launcher);
    while (clock_seconds() < end && !complaint_names_host(&c->complaint) &&
           !launcher_has_ended(&c->launcher))
        (void)hear(c);
    (void)hear(c);
    if (complaint_names_host(&c->complaint))
        return complaint_say(&c->complaint, ERROR_LOST, err);
    return host_is_silent(c->hosts.name[0], 0, seconds, err);
}

/* Why there is nothing to wait for any more; false: there is. */
static bool give_up(struct conversation *c, struct error *err)
{
    const double now = clock_seconds(), limit = c->spec->host_limit;
    const double start_s = START_LIMITS * limit + START_S;
    if (c->stop_at > 0 && now > c->stop_at)
        return !error_set(err, ERROR_CANCELLED, "stopped");
    if (c->heard == 0 && run_control_stop_asked(c->control) >= RUN_STOP_STEP)
        return !error_set(err, ERROR_CANCELLED, "stopped before it began");
    if (c->heard == 0 && now - c->begin > start_s)
        return !error_set(
            err, ERROR_FAILED, "the launcher has not started dpartui-rank on %s within %.0f s%s%s",
            c->spec->hosts, start_s, *c->complaint.text ? ": " : "", c->complaint.text);
    if (c->heard > 0 && now - c->heard > limit)
        return !complain_of_silence(c, now - c->heard, err);
    return false;
}

/* The output has ended without a last word. */
static bool explain(struct conversation *c, struct error *err)
{
    const double end = clock_seconds() + END_S / 2;
    while (clock_seconds() < end && !launcher_has_ended(&c->launcher))
        (void)hear(c);
    (void)hear(c);
    /* Where nothing has begun no host is lost: a launcher that cannot start it says why. */
    const enum error_kind kind = c->heard > 0 ? ERROR_LOST : ERROR_FAILED;
    if (!complaint_say(&c->complaint, kind, err))
        return false;
    if (!c->launcher.ended)
        return error_set(err, kind, "the launcher has closed its output and not ended");
    return error_set(err, kind, "the launcher has ended %s %d",
                     c->launcher.exited ? "with exit status" : "by signal", c->launcher.status);
}

static bool converse(struct conversation *c, struct error *err)
{
    bool open = true;
    c->begin = clock_seconds();
    while (open && !c->said_end) {
        /* What it has started elsewhere may keep its output open for a while. */
        const bool ended = launcher_has_ended(&c->launcher);
        open = hear(c) && !ended;
        pass_on(c);
        if (!c->said_end && give_up(c, err))
            return false;
    }
    if (!c->said_end)
        return explain(c, err);
    *err = c->end;
    return err->kind == ERROR_NONE;
}

/* What the launcher starts, on all hosts, is where this program is. */
static char *find_rank(struct error *err)
{
    char *program = paths_sibling_program("dpartui-rank", err);
    if (!program || strchr(program, '/'))
        return program;
    free(program);
    error_set(err, ERROR_FAILED,
              "dpartui-rank is not where dpartui-engine is: build it with MPI (Debian and Ubuntu: "
              "libopenmpi-dev, openmpi-bin)");
    return NULL;
}

static bool start(struct conversation *c, struct error *err)
{
    char *program = find_rank(err);
    char *command =
        program ? launcher_command(c->spec->launcher, &c->hosts, program, c->spec->host_limit, err)
                : NULL;
    const bool ok = command && launcher_start(command, &c->launcher, err);
    free(command);
    free(program);
    return ok;
}

/* From its start to its end. */
static bool launch(struct conversation *c, long run_number, struct error *err)
{
    if (!start(c, err))
        return false;
    const bool ok = say_what_to_do(c, run_number, err) && converse(c, err);
    const bool lost = !ok && err->kind == ERROR_LOST;
    const double end = clock_seconds() + (lost ? 0 : END_S);
    while (c->said_end && !launcher_has_ended(&c->launcher) && clock_seconds() < end)
        (void)hear(c);
    launcher_end(&c->launcher, lost ? LOST_S : POLITE_S);
    lines_free(&c->output);
    lines_free(&c->errors);
    return ok;
}

bool hosts_train(const struct spec *spec, long run_number, const struct run_keep *keep,
                 struct run_control *control, const struct run_sink *sink, struct error *err)
{
    struct conversation *c = calloc(1, sizeof *c);
    int crashes = 0;
    bool ok;
    if (!c)
        return error_memory(err, "the run");
    do {
        *c = (struct conversation){
            .spec = spec, .keep = keep, .control = control, .sink = sink, .before = c->complaint};
        *err = (struct error)ERROR_INIT;
        ok = spec_hosts(spec, &c->hosts, err) && launch(c, run_number, err);
    } while (!ok && c->heard == 0 && *c->complaint.crash && ++crashes < MOST_STARTS);
    if (crashes == MOST_STARTS)
        error_prefix(err, "started %d times", crashes);
    free(c);
    return ok;
}
