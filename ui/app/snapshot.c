/* SPDX-License-Identifier: MIT */
#include "ui/app/snapshot.h"

#include <math.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "ui/actions/views.h"
#include "ui/app/link.h"
#include "ui/app/playback.h"
#include "ui/control/control.h"
#include "ui/draw/ansi.h"
#include "ui/frame/screen.h"

/* How long an engine may take to say what it is doing. */
#define ANSWER_SECONDS 5.0

bool snapshot_keys(struct ui *ui, const char *keys, struct error *err)
{
    while (keys && *keys != '\0') {
        const char *end = *keys == '<' ? strchr(keys, '>') : NULL;
        int key;
        if (end && end > keys + 1) {
            key = key_of_name(keys + 1, (size_t)(end - keys - 1));
            if (key == KEYCODE_NONE)
                return error_set(err, ERROR_USAGE, "'%.*s' is no key", (int)(end - keys + 1), keys);
            keys = end + 1;
        } else {
            key = (int)text_next(&keys);
        }
        ui_key(ui, key);
    }
    return true;
}

/* Lets through to the requester that is its context what only asks. */
static bool ask_only(void *context, enum request request, json_t *params, struct error *err)
{
    const struct requester *engine = context;
    /* It is told once, and to somebody who can act on it. */
    if (request == REQUEST_WATCH)
        json_object_del(params, "interrupted");
    switch (request) {
    case REQUEST_HELLO:
    case REQUEST_WATCH:
    case REQUEST_RUNS:
    case REQUEST_SHOW:
    case REQUEST_COPY:
    case REQUEST_CHECK:
    case REQUEST_CHECKPOINTS:
    case REQUEST_LOG:
        return engine->send(engine->context, request, params, err);
    default:
        json_decref(params);
        return error_set(err, ERROR_USAGE, "a picture of the screen only looks");
    }
}

/* Read messages until the engine has sent its state and answered all requests. */
static bool listen_to_engine(struct ui *ui, struct link *link, struct error *err)
{
    double give_up = clock_seconds() + ANSWER_SECONDS;
    while (ui->link == LINK_UP && !(ui->state.known && link_quiet(link))) {
        struct pollfd wait = link_poll(link);
        int left = (int)ceil((give_up - clock_seconds()) * 1000);
        if (left <= 0)
            return error_set(err, ERROR_FAILED,
                             "the engine has not answered within %.0f seconds: see `dpartui engine "
                             "status`",
                             ANSWER_SECONDS);
        if (link_step(link) == NEWS_NONE)
            poll(&wait, 1, left);
    }
    return true;
}

static bool look_at_engine(struct ui *ui, const struct snapshot_options *options, struct error *err)
{
    const struct remote here = {.host = NULL};
    struct link *link;
    if (!link_open(&link, ui, &here, err))
        return false;
    struct requester engine = ui->requester;
    ui->requester = (struct requester){ask_only, &engine};
    link_look(link);
    bool ok = listen_to_engine(ui, link, err);
    if (ok && ui->link == LINK_UP) {
        ui_show_view(ui, options->view);
        ok = snapshot_keys(ui, options->keys, err) && listen_to_engine(ui, link, err);
    }
    link_close(link);
    return ok;
}

static bool gather(struct ui *ui, const struct snapshot_options *options, struct error *err)
{
    if (!options->replay && !look_at_engine(ui, options, err))
        return false;
    if (options->replay && !playback_file(ui, options->replay, options->until, err))
        return false;
    if (!options->replay && ui->link == LINK_UP)
        return true;
    ui_show_view(ui, options->view);
    return snapshot_keys(ui, options->keys, err);
}

bool snapshot_draw(struct ui *ui, const struct snapshot_options *options, struct text *out,
                   struct error *err)
{
    struct surface surface = {.utf8 = options->utf8};
    if (options->rows < 1 || options->rows > SNAPSHOT_MOST_ROWS || options->columns < 1 ||
        options->columns > SNAPSHOT_MOST_COLUMNS)
        return error_set(err, ERROR_USAGE, "a screen has 1 to %d columns and 1 to %d rows",
                         SNAPSHOT_MOST_COLUMNS, SNAPSHOT_MOST_ROWS);
    ui->rows = options->rows;
    ui->columns = options->columns;
    bool ok = gather(ui, options, err) &&
              surface_resize(&surface, options->rows, options->columns, err) &&
              screen_draw(ui, &surface, err);
    const struct theme theme = theme_make(&ui->preferences, options->colours);
    if (ok && options->ansi)
        surface_dump_ansi(&surface, &theme, out);
    else if (ok)
        surface_dump(&surface, out);
    surface_free(&surface);
    return ok;
}
