/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The warnings of a run, for its run object. What is said again is one warning with a count and its
 * first and last time; what is about the same thing ("about", as checkpoints that cannot be
 * written, whose text counts by itself) has its newest text. More than fit are only counted, so
 * that the object stays small whatever happens.
 */
#define WARNINGS_MOST  100
#define WARNINGS_BYTES ((size_t)16 << 10) /* of all texts */
#define WARNING_BYTES  ((size_t)2000)     /* of one; what is longer is cut */

struct warning {
    char *text, *about; /* about: NULL: nothing in particular */
    long count;
    double first, last; /* seconds since 1970 */
};

struct warnings {
    struct warning *list;
    size_t count, bytes;
    long left_out; /* that did not fit */
};

/* A "warning" event at a time. */
void warnings_take(struct warnings *warnings, const json_t *event, double now);
/* An array of texts, for people. NULL: memory ran out. */
json_t *warnings_json(const struct warnings *warnings);
/* What those texts do not say exactly, an array of as many objects: how many bytes of each text are
 * the warning itself, without its count; its count, times and "about"; or how many were left out.
 * NULL: memory ran out. */
json_t *warnings_counts_json(const struct warnings *warnings);
/* Both arrays back. Texts without counts came once, at about that time. */
void warnings_restore(struct warnings *warnings, const json_t *texts, const json_t *counts,
                      double then);
void warnings_free(struct warnings *warnings);
