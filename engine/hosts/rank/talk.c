/* SPDX-License-Identifier: MIT */
#include "engine/hosts/rank/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/json.h"
#include "engine/hosts/progress.h"

static const double FIRST_LINE_S = 60, ALIVE_S = 1;

/* As long as the engine's own wait for its store, and a little. */
static const double SYNC_S = 8;

struct talk {
    struct lines input;
    struct run_control control;
    double said;          /* something, on clock_seconds */
    pthread_mutex_t lock; /* guards standard output and the following */
    pthread_cond_t answered;
    bool waits;            /* for the engine's store */
    struct error unsynced; /* the answer; kind ERROR_NONE: it has all */
};

bool talk_open(struct talk **out, struct error *err)
{
    struct talk *talk = calloc(1, sizeof *talk);
    if (!talk)
        return error_memory(err, "the talk with the engine");
    run_control_init(&talk->control);
    pthread_mutex_init(&talk->lock, NULL);
    errno = deadline_cond_init(&talk->answered);
    *out = talk;
    return (errno == 0 && fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) == 0) ||
           error_errno(err, "standard input");
}

char *talk_first_line(struct talk *talk, struct error *err)
{
    const double end = clock_seconds() + FIRST_LINE_S;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    bool open = true;
    char *line = lines_next(&talk->input), *copy;
    while (!line && open && clock_seconds() < end) {
        if (poll(&input, 1, 100) > 0)
            open = lines_fill(&talk->input, STDIN_FILENO);
        line = lines_next(&talk->input);
    }
    if (!line) {
        error_set(err, ERROR_USAGE,
                  "standard input has no run: dpartui-rank is started by dpartui-engine");
        return NULL;
    }
    copy = strdup(line);
    if (!copy)
        error_memory(err, "the run");
    return copy;
}

static void say(struct talk *talk, const char *what, json_t *value)
{
    pthread_mutex_lock(&talk->lock);
    talk->said = clock_seconds();
    /* A failure is the engine's end, which standard input tells, too. */
    (void)lines_put(STDOUT_FILENO, json_pack("{s:o}", what, value));
    pthread_mutex_unlock(&talk->lock);
}

static void take_answer(struct talk *talk, const json_t *answer)
{
    pthread_mutex_lock(&talk->lock);
    talk->waits = false;
    talk->unsynced = (struct error)ERROR_INIT;
    if (json_is_string(answer))
        error_set(&talk->unsynced, ERROR_FAILED, "%s", json_string_value(answer));
    pthread_cond_broadcast(&talk->answered);
    pthread_mutex_unlock(&talk->lock);
}

static void take_line(struct talk *talk, const char *line)
{
    json_t *object = json_read(line, strlen(line), 0, NULL);
    const json_t *stop = json_object_get(object, "stop"), *lr = json_object_get(object, "lr");
    const json_t *epochs = json_object_get(object, "epochs");
    const json_t *paused = json_object_get(object, "paused");
    const json_t *synced = json_object_get(object, "synced");
    if (json_is_integer(stop) && json_integer_value(stop) == RUN_STOP_NONE)
        (void)run_control_cancel_stop(&talk->control);
    else if (json_is_integer(stop))
        run_control_stop(&talk->control, (enum run_stop)json_integer_value(stop));
    if (json_is_number(lr))
        atomic_store(&talk->control.lr, json_number_value(lr));
    if (json_is_integer(epochs))
        (void)run_control_set_epochs(&talk->control, (long)json_integer_value(epochs));
    if (json_is_boolean(paused))
        atomic_store(&talk->control.paused, json_is_true(paused));
    if (synced)
        take_answer(talk, synced);
    json_decref(object);
}

bool talk_serve(struct talk *talk)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    const bool open = poll(&input, 1, 0) <= 0 || lines_fill(&talk->input, STDIN_FILENO);
    for (char *line; (line = lines_next(&talk->input));)
        take_line(talk, line);
    pthread_mutex_lock(&talk->lock);
    const bool silent = clock_seconds() - talk->said > ALIVE_S;
    pthread_mutex_unlock(&talk->lock);
    if (silent)
        say(talk, "alive", json_true());
    return open;
}

static void take_event(void *context, json_t *event)
{
    say(context, "event", json_incref(event));
}

static void take_progress(void *context, const struct run_progress *progress)
{
    json_t *json = progress_to_json(progress);
    if (json)
        say(context, "progress", json);
}

struct run_sink talk_sink(struct talk *talk)
{
    return (struct run_sink){.event = take_event, .progress = take_progress, .context = talk};
}

struct run_control *talk_control(struct talk *talk)
{
    return &talk->control;
}

bool talk_sync(void *context, struct error *err)
{
    struct talk *talk = context;
    const struct timespec end = deadline_after(SYNC_S);
    int status = 0;
    pthread_mutex_lock(&talk->lock);
    talk->waits = true;
    pthread_mutex_unlock(&talk->lock);
    say(talk, "sync", json_true());
    pthread_mutex_lock(&talk->lock);
    while (talk->waits && status == 0)
        status = pthread_cond_timedwait(&talk->answered, &talk->lock, &end);
    const bool late = talk->waits;
    *err = talk->unsynced;
    pthread_mutex_unlock(&talk->lock);
    if (late)
        return error_set(err, ERROR_FAILED, "the engine has not answered for %.0f s", SYNC_S);
    return err->kind == ERROR_NONE;
}

void talk_end(struct talk *talk, const struct error *err)
{
    say(talk, "end",
        err ? json_pack("{s:i, s:o}", "kind", (int)err->kind, "error", json_any_text(err->text))
            : json_pack("{}"));
}
