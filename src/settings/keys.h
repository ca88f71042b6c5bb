/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"

/* The keys of the groups train and screen. */

/* How a value is written in a file. All become text and go through spec_set, which knows bounds, or
 * preferences_set. */
enum value_kind {
    VALUE_TEXT,
    VALUE_FILE,  /* text that may name a file or folder; "~/" stands for the home directory */
    VALUE_WORDS, /* text, or an array of texts */
    VALUE_WHOLE,
    VALUE_COUNTS, /* a whole number, or text: several, or a word */
    VALUE_NUMBER, /* 1 is as good as 1.0 */
    VALUE_BOOL,
};

struct settings_key {
    const char *name; /* "group.name"; what follows the point is the spec's or the preferences' */
    enum value_kind kind;
    const char *variable; /* in the environment */
};

extern const struct settings_key settings_keys[SETTINGS_KEYS];

/* Set the key from its text form. */
bool settings_key_set(size_t key, struct spec *spec, struct preferences *preferences,
                      const char *value, struct error *err);
/* Its text form, a new string the caller frees; NULL with *err. */
char *settings_key_text(size_t key, const struct spec *spec, const struct preferences *preferences,
                        struct error *err);

/* Every key as "group.name" for index 0, 1, ...; NULL after the last. */
const char *settings_key(size_t index);
