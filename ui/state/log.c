/* SPDX-License-Identifier: MIT */
#include "ui/state/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/state/read.h"

/*
 * The engine's messages and the workbench's own about the engine, in the order of time, the newest
 * STATE_MAX_LOG of them.
 */

static bool read_line(const json_t *object, struct log_line *line)
{
    static const char *const levels[] = {
        [LOG_INFO] = "info", [LOG_WARNING] = "warning", [LOG_ERROR] = "error"};
    const char *level = json_string_value(json_object_get(object, "level"));
    const char *text = json_string_value(json_object_get(object, "text"));
    if (!text)
        return false;
    *line = (struct log_line){
        .time = read_number(object, "time"),
        .run = read_run_number(object),
        .text = strdup(text),
    };
    for (int i = LOG_INFO; level && i <= LOG_ERROR; i++)
        if (strcmp(level, levels[i]) == 0)
            line->level = (enum log_level)i;
    return true;
}

/* Append; its text is taken over, also on failure. */
static bool append(struct state *state, struct log_line line, struct error *err)
{
    if (!state->log)
        state->log = calloc(STATE_MAX_LOG, sizeof *state->log);
    if (!state->log || !line.text) {
        free(line.text);
        return error_memory(err, "the log");
    }
    if (state->log_count == STATE_MAX_LOG) {
        free(state->log[0].text);
        state->log_count--;
        memmove(state->log, state->log + 1, (size_t)state->log_count * sizeof *state->log);
    }
    state->log[state->log_count++] = line;
    return true;
}

bool log_add(struct state *state, const json_t *message, struct error *err)
{
    struct log_line line;
    return !read_line(message, &line) || append(state, line, err);
}

bool state_log_local(struct state *state, double time, enum log_level level, const char *text,
                     struct error *err)
{
    struct log_line line = {.time = time, .level = level, .local = true, .text = strdup(text)};
    return append(state, line, err);
}

/*
 * The engine's list takes the place of what it sent before. What is older than all of it stays: it
 * is of an engine that is gone, or the list had no room for it.
 */
static bool stays(const struct log_line *line, const json_t *list)
{
    return line->local || json_array_size(list) == 0 ||
           line->time < read_number(json_array_get(list, 0), "time");
}

bool state_log(struct state *state, const json_t *result, struct error *err)
{
    struct state before = *state;
    bool ok = true;
    int next = 0;
    if (!json_is_array(result))
        return true;
    state->log = NULL;
    state->log_count = 0;
    for (size_t i = 0; i <= json_array_size(result); i++) {
        const json_t *message = json_array_get(result, i);
        double time = message ? read_number(message, "time") : NAN;
        /* The older ones first; after the end of the list all that are left. */
        for (; next < before.log_count && !(before.log[next].time >= time); next++) {
            struct log_line *line = &before.log[next];
            if (!stays(line, result))
                continue;
            ok = append(state, *line, err) && ok;
            line->text = NULL;
        }
        ok = (!message || log_add(state, message, err)) && ok;
    }
    log_free(&before);
    return ok;
}

void log_free(struct state *state)
{
    for (int i = 0; i < state->log_count; i++)
        free(state->log[i].text);
    free(state->log);
    state->log = NULL;
    state->log_count = 0;
}
