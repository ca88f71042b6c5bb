/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_ACTIONS_H
#define DPARTUI_UI_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Everything the workbench can be told to do, in one table: it finds a key's action, and the key
 * bar and the help screen are made from it.
 */
enum action {
    ACTION_NONE,
    ACTION_START,
    ACTION_STOP,
    ACTION_RETUNE,
    ACTION_SCALE,
    ACTION_COPY,
    ACTION_TOGGLE,
    ACTION_ADD,
    ACTION_REMOVE,
    ACTION_EDIT,
    ACTION_MORE,
    ACTION_LESS,
    ACTION_UP,
    ACTION_DOWN,
    ACTION_FIRST,
    ACTION_LAST,
    ACTION_NEXT_PANEL,
    ACTION_PREVIOUS_PANEL,
    ACTION_TEST_ACC,
    ACTION_TRAIN_ACC,
    ACTION_TRAIN_LOSS,
    ACTION_TEST_LOSS,
    ACTION_NEXT_METRIC,
    ACTION_ENGINE,
    ACTION_HELP,
    ACTION_REDRAW,
    ACTION_ACCEPT,
    ACTION_YES,
    ACTION_NO,
    ACTION_QUIT,
};

/* Where keys go at a moment; an action names all contexts that it works in. */
enum context {
    CONTEXT_DEVICES = 1,
    CONTEXT_FORM = 2,
    CONTEXT_RUNS = 4,
    CONTEXT_HELP = 8,
    CONTEXT_EDIT = 16,    /* typing a value: other keys are text */
    CONTEXT_CONFIRM = 32, /* a question waits for its answer */
    CONTEXT_PANELS = CONTEXT_DEVICES | CONTEXT_FORM | CONTEXT_RUNS,
};

enum { ACTION_KEYS = 3 };

struct action_entry {
    enum action action;
    unsigned contexts;
    int key[ACTION_KEYS];    /* of ui/key.h; unused ones are 0 */
    const char *keys;        /* as the help screen names them */
    const char *bar;         /* the key bar's key, NULL: not in the bar */
    const char *name;        /* what the key bar calls it */
    const char *description; /* a line for the help screen */
};

const struct action_entry *actions_table(size_t *count);
/* What `key` does in `context`; ACTION_NONE: nothing. */
enum action action_for_key(enum context context, int key);

#endif
