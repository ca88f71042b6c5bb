/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/draw/key.h"
#include "ui/keys/actions.h"

/* Which keys do what: those of the table of actions, or the user's own. */
struct keymap {
    int key[ACTION_ENTRIES][ACTION_KEYS]; /* by place in the table; unused ones are 0 */
};

void keymap_init(struct keymap *keymap);

/*
 * Give the action of that name these keys ("s F5", at most ACTION_KEYS, separated by blanks) in
 * place of those it has; none leaves it to the command palette. ERROR_USAGE: no such action, no
 * such key, or a character where characters are text.
 */
bool keymap_bind(struct keymap *keymap, const char *name, const char *keys, struct error *err);
/* To be asked when all are bound: does each key mean one thing wherever it works, and can the
 * workbench be left? ERROR_USAGE names the actions that do not agree. */
bool keymap_check(const struct keymap *keymap, struct error *err);

/* What `key` does in any of `contexts`; ACTION_NONE: nothing. */
enum action keymap_action(const struct keymap *keymap, unsigned contexts, int key);
/* All keys of an entry of the table, "s F5"; "" when it has none. */
enum { KEYMAP_TEXT_SIZE = ACTION_KEYS * KEY_NAME_SIZE };
const char *keymap_text(const struct keymap *keymap, size_t entry, char *buffer);
/* The first key of an action, "s"; "" when it has none. */
const char *keymap_first(const struct keymap *keymap, enum action action, char *buffer);
