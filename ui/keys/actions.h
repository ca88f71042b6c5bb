/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Everything the workbench can do, in one table: it finds a key's action, and the key
 * bar, the help screen, the command palette, the names in the configuration and the manual's list
 * of keys are made from it.
 */
enum action {
    ACTION_NONE,
    ACTION_START,
    ACTION_STOP,
    ACTION_PAUSE,
    ACTION_RETUNE,
    ACTION_EPOCHS,
    ACTION_SCALE,
    ACTION_ENGINE,
    ACTION_TOGGLE,
    ACTION_DEVICE,
    ACTION_ADD,
    ACTION_REMOVE,
    ACTION_LOAD_STYLE,
    ACTION_EDIT,
    ACTION_MORE,
    ACTION_LESS,
    ACTION_SAVE,
    ACTION_RESET,
    ACTION_FROM_FORM,
    ACTION_MARK,
    ACTION_DETAILS,
    ACTION_CONFUSION,
    ACTION_BEST,
    ACTION_COPY,
    ACTION_RESUME,
    ACTION_NOTE,
    ACTION_TAGS,
    ACTION_EXPORT,
    ACTION_DIFFERENCES,
    ACTION_FILTER,
    ACTION_SORT,
    ACTION_REVERSE,
    ACTION_EARLIER,
    ACTION_LATER,
    ACTION_DELETE,
    ACTION_SWEEP,
    ACTION_TARGET,
    ACTION_OPEN_HOST,
    ACTION_NEXT_PANEL,
    ACTION_PREVIOUS_PANEL,
    ACTION_UP,
    ACTION_DOWN,
    ACTION_PAGE_UP,
    ACTION_PAGE_DOWN,
    ACTION_FIRST,
    ACTION_LAST,
    ACTION_CURSOR_LEFT,
    ACTION_CURSOR_RIGHT,
    ACTION_ZOOM_IN,
    ACTION_ZOOM_OUT,
    ACTION_ZOOM_ALL,
    ACTION_FIX_SCALE,
    ACTION_X_AXIS,
    ACTION_LOG_SCALE,
    ACTION_SMOOTHING,
    ACTION_COMPANION,
    ACTION_TEST_ACC,
    ACTION_TRAIN_ACC,
    ACTION_TRAIN_LOSS,
    ACTION_TEST_LOSS,
    ACTION_SPEED,
    ACTION_LR,
    ACTION_NOISE,
    ACTION_ENERGY,
    ACTION_SAMPLES_PER_J,
    ACTION_NEXT_METRIC,
    ACTION_VIEW_DASHBOARD,
    ACTION_VIEW_RUNS,
    ACTION_VIEW_COMPARE,
    ACTION_VIEW_LOG,
    ACTION_VIEW_SETTINGS,
    ACTION_VIEW_HOSTS,
    ACTION_VIEW_COLUMNS,
    ACTION_PALETTE,
    ACTION_SCREENSHOT,
    ACTION_MOUSE,
    ACTION_HELP,
    ACTION_REDRAW,
    ACTION_BACK,
    ACTION_QUIT,
    ACTION_YES,
    ACTION_SAVE_FIRST,
    ACTION_AFTER_EPOCH,
    ACTION_AT_ONCE,
    ACTION_CANCEL_STOP,
    ACTION_STRONG_SCALING,
    ACTION_WEAK_SCALING,
    ACTION_GRID,
    ACTION_WHOLE_SWEEP,
    ACTION_NO,
    ACTION_ACCEPT,
    ACTION_CHOOSE_UP,
    ACTION_CHOOSE_DOWN,
    ACTION_COUNT
};

/* Where keys go at a moment; an action names all contexts that it works in. */
enum context {
    /* Panels of the dashboard */
    CONTEXT_DEVICES = 1,
    CONTEXT_FORM = 1 << 1,
    CONTEXT_RUNS = 1 << 2,
    CONTEXT_CHART = 1 << 3,
    CONTEXT_DASHBOARD = CONTEXT_DEVICES | CONTEXT_FORM | CONTEXT_RUNS | CONTEXT_CHART,
    /* Other views */
    CONTEXT_RUN_LIST = 1 << 4,
    CONTEXT_RUN = 1 << 5, /* the details of one */
    CONTEXT_COMPARE = 1 << 6,
    CONTEXT_LOG = 1 << 7,
    CONTEXT_SETTINGS = 1 << 8,
    CONTEXT_DEVICE = 1 << 9, /* the details of one */
    CONTEXT_HELP = 1 << 10,
    CONTEXT_CONFUSION = 1 << 14, /* of a run */
    CONTEXT_HOSTS = 1 << 15,
    CONTEXT_DIFFERENCES = 1 << 16, /* of two runs */
    CONTEXT_COLUMNS = 1 << 17,     /* of the list of runs */
    CONTEXT_VIEWS = CONTEXT_DASHBOARD | CONTEXT_RUN_LIST | CONTEXT_RUN | CONTEXT_CONFUSION |
                    CONTEXT_COMPARE | CONTEXT_LOG | CONTEXT_SETTINGS | CONTEXT_DEVICE |
                    CONTEXT_HELP | CONTEXT_HOSTS | CONTEXT_DIFFERENCES | CONTEXT_COLUMNS,
    /* On top of a view */
    CONTEXT_PROMPT = 1 << 11,   /* typing a value: other keys are text */
    CONTEXT_PALETTE = 1 << 12,  /* typing the name of an action; also CONTEXT_PROMPT */
    CONTEXT_QUESTION = 1 << 13, /* a question waits for its answer */
    /* Where lines can be walked through, and runs be controlled */
    CONTEXT_LINES = CONTEXT_VIEWS & ~CONTEXT_CHART,
    CONTEXT_RUN_CONTROL = CONTEXT_DASHBOARD | CONTEXT_RUN_LIST | CONTEXT_RUN | CONTEXT_COMPARE,
};

enum { ACTION_KEYS = 3, ACTION_ENTRIES = 110 };

struct action_entry {
    enum action action;
    const char *name; /* in the command palette, and of its keys in the configuration */
    unsigned contexts;
    int key[ACTION_KEYS];    /* of ui/draw/key.h, unless rebound (ui/keys/keymap.h); unused ones are
                                0 */
    int bar;                 /* 0: not in the key bar; else the higher, the sooner it gives way */
    const char *label;       /* what the key bar calls it */
    const char *description; /* a line for help and manual */
};

/* At most ACTION_ENTRIES. */
const struct action_entry *actions_table(size_t *count);
