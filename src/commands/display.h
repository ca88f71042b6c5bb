/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "events/profile.h"
#include "output/bar.h"

/*
 * What `dpartui train` shows of a run on standard output: events as JSON, a line per epoch, or
 * that and a progress line on a terminal.
 */
enum display_kind { DISPLAY_JSON, DISPLAY_LINES, DISPLAY_TERMINAL };

struct display {
    enum display_kind kind;
    enum profile_order profile;
    long run;
    bool lost; /* the output is not read any more: the terminal or the pipe is closed */
    bool stopping, ended;
    json_t *begin; /* the "run" event, or NULL before it */
    json_t *state; /* the newest state, for drawing again */
    bool stale;    /* it has not been drawn yet */
    struct bar_line line;
};

/* DISPLAY_TERMINAL where standard output is a terminal that can rewrite a line. */
enum display_kind display_choose(bool json);

void display_begin(struct display *display, enum display_kind kind, long run,
                   enum profile_order profile);
void display_end(struct display *display);

/* Take what came, then display_settle once when nothing more is there for now. */
void display_event(struct display *display, json_t *event);
void display_state(struct display *display, json_t *state);
void display_settle(struct display *display);
/* Draw the progress line again: the terminal has changed. */
void display_redraw(struct display *display);
/* A remark on standard error. */
void display_remark(struct display *display, const char *text);
