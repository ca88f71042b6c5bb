/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "ui/state_read.h"

/* The engine's messages, the newest STATE_MAX_LOG of them. */

static bool read_line(const json_t *object, struct log_line *line)
{
    static const char *const levels[] = {
        [LOG_INFO] = "info", [LOG_WARNING] = "warning", [LOG_ERROR] = "error"};
    const char *level = json_string_value(json_object_get(object, "level"));
    const char *text = json_string_value(json_object_get(object, "text"));

    if (text == NULL)
        return false;
    *line = (struct log_line){
        .time = read_number(object, "time"),
        .run = read_run_number(object),
        .text = strdup(text),
    };
    for (int i = LOG_INFO; level != NULL && i <= LOG_ERROR; i++)
        if (strcmp(level, levels[i]) == 0)
            line->level = (enum log_level)i;
    return true;
}

bool log_add(struct state *state, const json_t *message, struct error *err)
{
    struct log_line line;

    if (!read_line(message, &line))
        return true;
    if (state->log == NULL)
        state->log = calloc(STATE_MAX_LOG, sizeof *state->log);
    if (state->log == NULL || line.text == NULL) {
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

bool state_log(struct state *state, const json_t *result, struct error *err)
{
    if (!json_is_array(result))
        return true;
    log_free(state);
    for (size_t i = 0; i < json_array_size(result); i++)
        if (!log_add(state, json_array_get(result, i), err))
            return false;
    return true;
}

void log_free(struct state *state)
{
    for (int i = 0; i < state->log_count; i++)
        free(state->log[i].text);
    free(state->log);
    state->log = NULL;
    state->log_count = 0;
}
