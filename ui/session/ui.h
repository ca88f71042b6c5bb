/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/draw/editor.h"
#include "ui/draw/layout.h"
#include "ui/draw/preferences.h"
#include "ui/form/form.h"
#include "ui/keys/keymap.h"
#include "ui/session/chart.h"
#include "ui/session/comparison.h"
#include "ui/session/evaluation.h"
#include "ui/session/hosts.h"
#include "ui/session/log_lines.h"
#include "ui/session/message.h"
#include "ui/session/overlay.h"
#include "ui/session/request.h"
#include "ui/session/runs.h"
#include "ui/session/settings_source.h"
#include "ui/session/view.h"
#include "ui/state/details.h"
#include "ui/state/pair.h"
#include "ui/state/run_list.h"
#include "ui/state/state.h"

/*
 * The workbench without terminal and socket: what the engine said, what the user is doing, and the
 * changes that keys and answers make. Drawing (ui/frame/screen.h) only reads it, so tests drive it
 * with recorded messages and compare what is drawn.
 */

enum link_state { LINK_STARTING, LINK_UP, LINK_LOST, LINK_NO_ENGINE };

struct ui {
    struct state state;
    struct hosts hosts; /* that there are besides */
    struct form form;
    struct form_check check; /* what the engine says of it */
    enum link_state link;
    bool silent;           /* it is UP, but owes an answer or the state of a run for seconds */
    bool stopped;          /* it has said that it ends: when it is LOST, it was stopped */
    char link_advice[640]; /* why there is no engine and what to do, in LOST and NO_ENGINE */
    char host[64];         /* the other host that the engine is on; "": it is on this one */
    char down_since[12];   /* time of day since when the line there is down; "": it is not */
    struct preferences preferences; /* how the screen looks; a change acts with the next frame */
    const struct settings_source *settings_source; /* of the settings, borrowed; NULL: none */
    int rows, columns;               /* of the screen as last drawn: how far a page goes */
    enum view_id view;               /* on the screen */
    enum view_id back[VIEW_COUNT];   /* where ACTION_BACK leads from each */
    enum panel focus;                /* of the dashboard */
    const struct prompt *prompt;     /* open now; NULL: none */
    const struct question *question; /* open now; NULL: none */
    char question_text[256];
    long asked_run;          /* which run a prompt or a question is about */
    struct run_group chosen; /* or which ones, where it may be several */
    char chosen_tags[200];   /* of all of these, as they were shown to be edited */
    struct run_deletion deletion;
    struct run_export exported;
    struct editor editor;
    struct keymap keymap;
    int choice;            /* in focus among what the command palette finds */
    long selected_run;     /* in focus in the lists of runs and marked in the chart; 0: none */
    long marked[UI_MARKS]; /* in the order of marking */
    int mark_count;
    int device_line; /* in focus in the list of devices */
    int line;        /* in focus in the other views' lists; 0 when one is opened */
    struct chart_choice chart;
    struct run_list list;
    unsigned long bases_version; /* of the runs, when their bases were found */
    struct run_details details;  /* of the run whose details were opened last */
    struct run_pair pair;        /* that are shown side by side */
    struct log_choice log;
    struct compare_choice compare;
    struct evaluation evaluation;
    bool picked; /* the last click has put the cursor into a line */
    struct message message;
    struct requester requester;
    bool start_when_idle;    /* submit the form once, as soon as the engine says it is idle */
    bool want_engine;        /* the user asked for the engine to be started */
    bool want_redraw;        /* the user asked for a fresh screen */
    bool want_bell;          /* a run has ended */
    char want_picture[1024]; /* and for this screen in a file of that name; "": not */
    bool quit;
};

bool ui_init(struct ui *ui, const struct spec *spec, struct error *err);
/* As at the start, for the engine of another host: what the user has set stays, also in the form,
 * but for devices and folders, which are others there. */
bool ui_start_over(struct ui *ui, struct error *err);
void ui_free(struct ui *ui);

/* Lines that PageUp and PageDown move by on a page that is one list below its titles. */
static inline int ui_page_lines(const struct ui *ui)
{
    return ui->rows > 6 ? ui->rows - 5 : 1;
}
