/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_OUTPUT_VIEW_H
#define DPARTUI_OUTPUT_VIEW_H

#include <jansson.h>
#include <stdbool.h>

#include "events/profile_event.h"
#include "output/bar.h"

/*
 * What `dpartui train` shows of a run on standard output: events as JSON, a line per epoch, or
 * that and a progress line on a terminal.
 */
enum view_kind { VIEW_JSON, VIEW_LINES, VIEW_TERMINAL };

struct view {
    enum view_kind kind;
    enum profile_order profile;
    long run;
    bool lost; /* nobody reads the output any more: the terminal or the pipe is gone */
    bool stopping, ended;
    json_t *begin; /* the "run" event, or NULL before it */
    json_t *state; /* the newest state, for drawing again */
    bool stale;    /* it has not been drawn yet */
    struct bar_line line;
};

/* VIEW_TERMINAL where standard output is a terminal that can rewrite a line. */
enum view_kind view_choose(bool json);

void view_begin(struct view *view, enum view_kind kind, long run, enum profile_order profile);
void view_end(struct view *view);

/* Take what came, then view_settle once when nothing more is there for now. */
void view_event(struct view *view, json_t *event);
void view_state(struct view *view, json_t *state);
void view_settle(struct view *view);
/* Draw the progress line again: the terminal has changed. */
void view_redraw(struct view *view);
/* A remark on standard error. */
void view_remark(struct view *view, const char *text);

#endif
