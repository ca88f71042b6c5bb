/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Values that can be edited, in the form and on the settings page: what they mean, and how + and -
 * change them. */

enum step_kind { STEP_NOT, STEP_WORDS, STEP_ONE, STEP_DOUBLE, STEP_125 };

struct field {
    const char *key;  /* spec_set's ("sync-bn"), or a preference's ("palette") */
    const char *hint; /* a line of explanation */
    enum step_kind step;
    const char *const *words; /* of STEP_WORDS, NULL after the last; others may be typed */
};

/* The field of a key, in which '_' is as good as '-'; where there is none, one without
 * an explanation. */
const struct field *field_find(const char *key);

/*
 * The next value up (direction 1) or down (-1) from `value`, in `next` of `size` bytes: words go
 * round, a batch doubles, a rate goes 1-2-5. False when there is none.
 */
bool field_next(const struct field *field, const char *value, int direction, char *next,
                size_t size);
