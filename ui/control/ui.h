/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CONTROL_UI_H
#define DPARTUI_UI_CONTROL_UI_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "experiment/sweep.h"
#include "ui/control/actions.h"
#include "ui/control/keeper.h"
#include "ui/control/keymap.h"
#include "ui/draw/layout.h"
#include "ui/draw/preferences.h"
#include "ui/draw/surface.h"
#include "ui/form/editor.h"
#include "ui/form/form.h"
#include "ui/state/details.h"
#include "ui/state/run_list.h"
#include "ui/state/state.h"

/*
 * The workbench without terminal and socket: what the engine said, what the user is doing, and the
 * changes that keys and answers make. Drawing (ui/app/screen.h) only reads it, so tests drive it
 * with recorded messages and compare what is drawn.
 */

enum link_state { LINK_STARTING, LINK_UP, LINK_LOST, LINK_NO_ENGINE };

/* What fills the screen between its first line and its last two; ui/views/views.h has their table.
 */
enum view_id {
    VIEW_DASHBOARD,
    VIEW_RUNS,
    VIEW_RUN, /* the details of the selected run */
    VIEW_COMPARE,
    VIEW_LOG,
    VIEW_SETTINGS,
    VIEW_DEVICE, /* the figures of the device in focus */
    VIEW_HELP,
    VIEW_COUNT
};

struct ui;

/*
 * A value that the user types, on the status line or where a view draws it. Each kind is a constant
 * beside its functions; what it is about is in ui->asked_run or in the owner's part of the ui.
 */
struct prompt {
    const char *label; /* before the text, with a %ld for the run; NULL: the view draws the text */
    const char *hint;  /* behind it; may be NULL */
    /* Take the text over. False keeps the prompt open; ui_say tells what is wrong. */
    bool (*accept)(struct ui *ui, const char *text);
    void (*changed)(struct ui *ui, const char *text); /* after each key; may be NULL */
    void (*left)(struct ui *ui);                      /* without a value; may be NULL */
    bool palette;                                     /* the keys of CONTEXT_PALETTE work, too */
    bool moot;                                        /* when the run it is about ends */
};

/* A question with the answers that make sense; ACTION_NO always does and changes nothing. */
struct question {
    enum action answers[4];
    void (*answer)(struct ui *ui, enum action answer); /* never ACTION_NO */
    void (*declined)(struct ui *ui);                   /* may be NULL */
    bool moot; /* when the run it is about ends or the engine is lost */
};

enum request {
    REQUEST_HELLO,
    REQUEST_WATCH,
    REQUEST_RUNS,
    REQUEST_SHOW,
    REQUEST_COPY, /* `show`, for its spec */
    REQUEST_SUBMIT,
    REQUEST_SWEEP, /* `submit`, of a sweep's runs one after the other */
    REQUEST_STOP,
    REQUEST_SET_LR,
    REQUEST_SET_EPOCHS,
    REQUEST_PAUSE,
    REQUEST_UNPAUSE,
    REQUEST_MOVE,
    REQUEST_DELETE,
    REQUEST_CHECK,
    REQUEST_NOTE,
    REQUEST_TAGS,
    REQUEST_GO_ON, /* `submit`, of a run that has ended */
    REQUEST_LOG,
    REQUEST_COUNT
};

const char *request_method(enum request request);

/* Hand a request to the engine without waiting; `params` is stolen. */
struct requester {
    bool (*send)(void *context, enum request request, json_t *params, struct error *err);
    void *context;
};

/* What the chart shows of the curves. */
struct chart_choice {
    enum metric metric;
    bool companion;  /* the training curve beside that of the test, and the other way round */
    bool reading;    /* the cursor is shown ... */
    double cursor;   /* ... at this epoch */
    double from, to; /* epochs in sight; both 0: all */
    bool follow;     /* a part was in sight with the newest point: it stays in sight */
    long front;      /* the run that this is about */
    bool fixed;      /* the y axis stays as values from low to high made it */
    double low, high;
};

struct log_choice {
    char filter[64];
    int back; /* lines scrolled up from the newest */
};

/* Over the number of devices. */
enum compare_figure {
    COMPARE_SPEED_UP,
    COMPARE_SAMPLES,
    COMPARE_SECONDS, /* an epoch */
    COMPARE_EFFICIENCY,
    COMPARE_ACCURACY,
    COMPARE_FIGURES
};

struct compare_choice {
    long anchor;                /* the run whose like are compared; 0: the newest that ended */
    enum compare_figure figure; /* of the chart */
    /*
     * While a question is open what it is about, then what is being submitted: the next run when
     * the engine has taken the one before, so that they stand in the queue in order.
     */
    struct sweep sweep;
    bool submitting;
    int taken; /* how many runs the engine has taken */
};

enum { UI_MARKS = 8 };

struct ui {
    struct state state;
    struct form form;
    struct form_check check; /* what the engine says of it */
    enum link_state link;
    bool silent;           /* it is UP, but owes an answer or the state of a run for seconds */
    char link_advice[512]; /* why there is no engine and what to do, in LOST and NO_ENGINE */
    struct preferences preferences;  /* how the screen looks; a change acts with the next frame */
    const struct keeper *keeper;     /* of the settings, borrowed; NULL: none */
    int rows, columns;               /* of the screen as last drawn: how far a page goes */
    enum view_id view;               /* on the screen */
    enum view_id behind[VIEW_COUNT]; /* where ACTION_BACK leads from each */
    enum panel focus;                /* of the dashboard */
    const struct prompt *prompt;     /* open now; NULL: none */
    const struct question *question; /* open now; NULL: none */
    char question_text[200];
    long asked_run; /* which run a prompt or a question is about */
    struct editor editor;
    struct keymap keymap;
    int choice;            /* in focus among what the command palette finds */
    long selected_run;     /* in focus in the lists of runs and marked in the chart; 0: none */
    long marked[UI_MARKS]; /* laid over the chart, in the order of marking */
    int mark_count;
    int device_line; /* in focus in the list of devices */
    int line;        /* in focus in the other views' lists; 0 when one is opened */
    struct chart_choice chart;
    struct run_list list;
    struct run_details details; /* of the run whose details were opened last */
    struct log_choice log;
    struct compare_choice compare;
    bool picked; /* the last click has put the cursor into a line */
    struct {
        char text[512];
        bool bad;
    } message; /* stays until the next key */
    struct requester requester;
    bool interrupted_told;   /* on this connection: which runs a crash has interrupted */
    bool start_when_idle;    /* submit the form once, as soon as the engine says it is idle */
    bool want_engine;        /* the user asked for the engine to be started */
    bool want_redraw;        /* the user asked for a fresh screen */
    char want_picture[1024]; /* and for this screen in a file of that name; "": not */
    bool quit;
};

bool ui_init(struct ui *ui, const struct spec *spec, struct error *err);
void ui_free(struct ui *ui);

/* The connection came up: greet, watch and ask for the runs. */
void ui_connected(struct ui *ui);
/* It went away (LOST), or no engine could be started (NO_ENGINE). */
void ui_disconnected(struct ui *ui, enum link_state link, const char *advice);
/* The engine is connected and has said nothing for too long; the next message ends that. */
void ui_silence(struct ui *ui);
/* A notification of the engine. */
void ui_notification(struct ui *ui, const json_t *message);
/* The answer to a request: its result, or NULL and why. */
void ui_answer(struct ui *ui, enum request request, const json_t *result,
               const struct error *failure);
/* A key of ui/draw/key.h. */
void ui_key(struct ui *ui, int key);
/* Pasted text: what is typed into a prompt, and nothing without one. */
void ui_paste(struct ui *ui, const char *text);

/* Where keys go now: bits of enum context. */
unsigned ui_contexts(const struct ui *ui);
/* And where they would go in another view, or without prompt and question. */
unsigned ui_view_contexts(const struct ui *ui, enum view_id view);
/* Whether an action makes sense now; the key bar shows only those. */
bool ui_can(const struct ui *ui, enum action action);
/* The same of the view below a prompt or question. */
bool ui_can_below(const struct ui *ui, enum action action);
void ui_act(struct ui *ui, enum action action);

/* Leave the workbench, but first ask when settings are not saved; asked twice it just leaves. */
void ui_leave(struct ui *ui);

void ui_show_view(struct ui *ui, enum view_id view);
/* Have a value typed; `text` to begin with. */
void ui_prompt(struct ui *ui, const struct prompt *prompt, long run, const char *text);
/* Ask; the text comes from `format`. */
void ui_ask(struct ui *ui, const struct question *question, long run, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Send a request; a failure becomes the message. `params` is stolen. */
bool ui_request(struct ui *ui, enum request request, json_t *params);
/* The same for one that only names a run. */
bool ui_request_run(struct ui *ui, enum request request, long run);

void ui_say(struct ui *ui, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Put an event of the workbench itself among the engine's messages. */
void ui_log_local(struct ui *ui, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is it known neither to wait nor to train any more? */
bool run_has_ended(const struct state_run *run);
/* Marks of runs that are laid over the chart; the oldest gives way when there are UI_MARKS. */
bool ui_is_marked(const struct ui *ui, long run);
void ui_toggle_mark(struct ui *ui, long run);

/*
 * The runs whose curves the chart shows, from the back to the front; returns how many. Earlier ones
 * of the same data, the marked and the selected ones, and in front the one that goes on (or the
 * newest).
 */
enum { UI_CHART_RUNS = 12 };
int ui_chart_runs(const struct ui *ui, const struct state_run **runs);
/* The run in line `line` of the list: newest first; NULL behind the end. */
const struct state_run *ui_run_line(const struct ui *ui, int line);
/* The run that is to be stopped, paused or retuned: where runs are in focus the selected one unless
 * it has ended, else the one going on; 0: none. In the views of runs it is never another than the
 * selected one. */
long ui_run_in_question(const struct ui *ui);

#endif
