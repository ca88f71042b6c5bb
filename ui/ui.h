/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_UI_H
#define DPARTUI_UI_UI_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "ui/actions.h"
#include "ui/editor.h"
#include "ui/form.h"
#include "ui/layout.h"
#include "ui/state.h"
#include "ui/surface.h"

/*
 * The workbench without terminal and socket: what the engine said, what the user is doing, and the
 * changes that keys and answers make. Drawing (ui/screen.h) only reads it, so tests drive it with
 * recorded messages and compare what is drawn.
 */

enum link_state { LINK_STARTING, LINK_UP, LINK_LOST, LINK_NO_ENGINE };

enum mode { MODE_PANELS, MODE_EDIT, MODE_RETUNE, MODE_CONFIRM_STOP, MODE_HELP };

enum request {
    REQUEST_HELLO,
    REQUEST_WATCH,
    REQUEST_RUNS,
    REQUEST_SHOW,
    REQUEST_COPY, /* `show`, for its spec */
    REQUEST_SUBMIT,
    REQUEST_STOP,
    REQUEST_SET_LR,
    REQUEST_COUNT
};

const char *request_method(enum request request);

/* Hand a request to the engine without waiting; `params` is stolen. */
struct requester {
    bool (*send)(void *context, enum request request, json_t *params, struct error *err);
    void *context;
};

struct ui {
    struct state state;
    struct form form;
    enum link_state link;
    char link_advice[512]; /* why there is no engine and what to do, in LOST and NO_ENGINE */
    enum panel focus;
    enum mode mode;
    int help_line;      /* the first one shown */
    int device_line;    /* in focus in the list of devices */
    long selected_run;  /* in focus in the list of runs and marked in the chart; 0: none */
    enum metric metric; /* what the chart shows */
    struct editor editor;
    long asked_run; /* which run a question is about */
    struct {
        char text[512];
        bool bad;
    } message; /* stays until the next key */
    struct requester requester;
    bool start_when_idle; /* submit the form once, as soon as the engine says it is idle */
    bool want_engine;     /* the user asked for the engine to be started */
    bool want_redraw;     /* the user asked for a fresh screen */
    bool quit;
};

bool ui_init(struct ui *ui, const struct spec *spec, struct error *err);
void ui_free(struct ui *ui);

/* The connection came up: greet, watch and ask for the runs. */
void ui_connected(struct ui *ui);
/* It went away (LOST), or no engine could be started (NO_ENGINE). */
void ui_disconnected(struct ui *ui, enum link_state link, const char *advice);
/* A notification of the engine. */
void ui_notification(struct ui *ui, const json_t *message);
/* The answer to a request: its result, or NULL and why. */
void ui_answer(struct ui *ui, enum request request, const json_t *result,
               const struct error *failure);
/* A key of ui/key.h. */
void ui_key(struct ui *ui, int key);

/* Where keys go now. */
enum context ui_context(const struct ui *ui);
/* Whether an action makes sense now; the key bar shows only those. */
bool ui_can(const struct ui *ui, enum action action);
void ui_act(struct ui *ui, enum action action);

void ui_say(struct ui *ui, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * The runs whose curves the chart shows, from the back to the front; returns how many. Earlier ones
 * of the same data, the selected one, and in front the one that goes on (or the newest).
 */
enum { UI_CHART_RUNS = 6 };
int ui_chart_runs(const struct ui *ui, const struct state_run **runs);
/* The run in line `line` of the list: newest first; NULL behind the end. */
const struct state_run *ui_run_line(const struct ui *ui, int line);
/* The run in question for `stop`: the selected one if it has not ended, else the one going on. */
long ui_run_to_stop(const struct ui *ui);

#endif
