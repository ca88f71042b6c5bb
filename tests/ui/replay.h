/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "settings/saved.h"
#include "ui/app/playback.h"
#include "ui/session/ui.h"

/*
 * A workbench without terminal and engine: recordings (tests/ui/recordings/record.py) play the
 * engine, and what the ui asks of it is kept. All of it fails the running check when it cannot be
 * done.
 */
struct replay {
    struct ui ui;
    struct saved_settings saved; /* of the built-in settings, for a user without a home */
    char asked[64][1024];        /* the newest requests, "stop {\"run\":3}" */
    int asked_count;
    json_t *shows;   /* recorded answers to `show`, by run: given after the key that asked */
    long wanted[16]; /* runs that `show` has been asked for since */
    int wanted_count;
    json_t *evaluation; /* the same of `evaluate`; NULL: it is never answered */
    bool evaluates;     /* it has been asked for since */
    struct playback playback;
};

void replay_begin(struct replay *replay);
void replay_end(struct replay *replay);
/* tests/ui/recordings/NAME.jsonl. With `damage`, each message is first spoilt at random from that
 * seed. */
void replay_recording(struct replay *replay, const char *name, unsigned damage);
/* One message as text. */
void replay_line(struct replay *replay, const char *line);
/* Keys as characters and names: "<Tab>s". */
void replay_keys(struct replay *replay, const char *keys);
/* One key of ui/draw/key.h. */
void replay_key(struct replay *replay, int key);
/* Show a view, as `dpartui screen --view` does. */
void replay_view(struct replay *replay, enum view_id view);
/* The newest request, "" when there was none. */
const char *replay_last(const struct replay *replay);
/* Draw the screen into a surface without cells, for the caller to free. */
void replay_draw(struct replay *replay, int rows, int columns, struct surface *surface);
/* The screen as text; the caller frees it. */
char *replay_screen(struct replay *replay, int rows, int columns, bool utf8);
