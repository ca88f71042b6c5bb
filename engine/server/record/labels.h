/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/record/record.h"

/* The user's own words for a run: a note, and tags to find it by. */

/* One tag: a word of at most 60 bytes without spaces, commas and control characters. */
bool record_check_tag(const char *tag, struct error *err);
/* Take tags away, then add others (arrays of strings, or NULL). False, and nothing is changed:
 * there would be more than 20, or memory ran out. */
bool record_change_tags(struct record *record, const json_t *add, const json_t *remove,
                        struct error *err);

/*
 * The user's note: one line, not too long; ERROR_USAGE names `key` otherwise. Set one that has been
 * checked.
 */
bool record_check_note(const char *note, const char *key, struct error *err);
void record_set_note(struct record *record, const char *note);
