/* SPDX-License-Identifier: MIT */
#include "ui/app/playback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ui/control/engine.h"

static bool accept_request(void *context, enum request request, json_t *params, struct error *err)
{
    (void)context;
    (void)request;
    (void)err;
    json_decref(params);
    return true;
}

void playback_begin(struct playback *playback, struct ui *ui)
{
    *playback = (struct playback){.ui = ui};
    ui->requester = (struct requester){accept_request, NULL};
}

static void take_connection(struct ui *ui, const json_t *message, const char *what)
{
    const char *advice = json_string_value(json_object_get(message, "advice"));
    if (strcmp(what, "up") == 0)
        ui_connected(ui);
    else
        ui_disconnected(ui, LINK_LOST, advice ? advice : "the engine is gone");
}

static void remember(struct playback *playback, json_int_t id, const char *method)
{
    for (int i = 0; i < REQUEST_COUNT; i++)
        if (strcmp(method, request_method((enum request)i)) == 0) {
            playback->request_of[(size_t)id % 256] = (enum request)i;
            return;
        }
}

void playback_message(struct playback *playback, const json_t *message)
{
    const json_t *id = json_object_get(message, "id");
    const char *method = json_string_value(json_object_get(message, "method"));
    const char *connection = json_string_value(json_object_get(message, "connection"));
    const char *why =
        json_string_value(json_object_get(json_object_get(message, "error"), "message"));
    struct error failure = ERROR_INIT;
    if (connection) {
        take_connection(playback->ui, message, connection);
        return;
    }
    if (playback->ui->link != LINK_UP)
        ui_connected(playback->ui);
    if (!json_is_integer(id)) {
        ui_notification(playback->ui, message);
    } else if (method) {
        remember(playback, json_integer_value(id), method);
    } else {
        error_set(&failure, ERROR_FAILED, "%s", why ? why : "the engine refused");
        ui_answer(playback->ui, playback->request_of[(size_t)json_integer_value(id) % 256],
                  json_object_get(message, "result"), &failure);
    }
}

/* One line of a session; *past is set when it lies after `until`. */
static bool play_line(struct playback *playback, const char *line, double until, bool *past,
                      struct error *err)
{
    json_error_t where;
    json_t *message = json_read(line, strlen(line), 0, &where);
    if (!json_is_object(message)) {
        json_decref(message);
        return error_set(err, ERROR_USAGE, "not a message of a recorded session: %s",
                         !message ? where.text : "no object");
    }
    const json_t *t = json_object_get(message, "t");
    *past = json_is_number(t) && json_number_value(t) > until;
    if (!*past)
        playback_message(playback, message);
    json_decref(message);
    return true;
}

bool playback_file(struct ui *ui, const char *path, double until, struct error *err)
{
    FILE *file = fopen(path, "re");
    struct playback playback;
    char *line = NULL;
    size_t size = 0;
    bool ok = true, past = false;
    if (!file)
        return error_errno(err, "%s: the session cannot be read", path);
    playback_begin(&playback, ui);
    long number = 0;
    while (ok && !past && getline(&line, &size, file) > 0) {
        number++;
        ok = play_line(&playback, line, until, &past, err) ||
             error_prefix(err, "%s:%ld", path, number);
    }
    if (ok && ferror(file))
        ok = error_errno(err, "%s: the session cannot be read", path);
    else if (ok && number == 0)
        ok = error_set(err, ERROR_USAGE, "%s: is empty, and no recorded session", path);
    free(line);
    fclose(file);
    return ok;
}
