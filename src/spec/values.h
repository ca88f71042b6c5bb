/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Several values of one setting, with commas between: "128,256", "cosine,multistep:3,6". A comma
 * within a value is followed by a number where one between two of them is followed by a word.
 */

/* Can the setting `key` have several values? Not where one value is a list by itself, nor one that
 * is free text. */
bool spec_has_lists(const char *key);

/* Is the text of the setting `key` such a list? */
bool spec_is_list(const char *key, const char *text);

/* The next value of a list; *at, which begins as the text, is NULL after the last. False when the
 * value is empty or too long. */
bool spec_next_value(const char *key, const char **at, char *value, size_t size);
