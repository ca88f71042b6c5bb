/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <math.h>

#include "store/store.h"

/* Which runs to list; NULL or NAN: whatever. Text is compared without regard to case (of ASCII). */
struct store_filter {
    const char *model, *data, *devices, *status, *tag; /* the whole value; devices as "cpu:0-1" */
    const char *words;     /* each word occurs in model, data, devices, status, note or a tag */
    double since, until;   /* submitted, seconds since 1970 */
    const char *sort;      /* a member of run objects such as "test_acc", or "devices" for their
                              number; NULL: by number */
    bool descending;       /* with `sort` */
    long limit;            /* this many: the first with `sort`, else the newest; 0: all */
    const json_t *without; /* numbers of runs to leave out; borrowed */
    bool interrupted;      /* unfinished runs count as interrupted: no engine trains them */
};

#define STORE_FILTER_INIT                                                                          \
    {                                                                                              \
        .since = NAN, .until = NAN                                                                 \
    }

/* Does it leave any run out, but for `limit` and `without`? */
bool store_filter_has_conditions(const struct store_filter *filter);

/*
 * Run objects, each with its "tags" and, if asked for, its "spec": oldest first, or by
 * filter->sort, equal ones oldest first and those of which it is not known after all others. Takes
 * time in proportion to what is returned; conditions and keys are looked up in an index.
 */
bool store_list(struct store *store, const struct store_filter *filter, bool with_spec,
                json_t **runs, struct error *err);

/* Are there runs that the last list had to leave out, as they are damaged? Then the text, of 640
 * bytes or less, says which, and what helps. */
bool store_list_unread(const struct store *store, char *text, size_t size);

/* Is there a run of that number? */
bool store_has_run(struct store *store, long run, bool *has, struct error *err);

/* How many runs there are. */
bool store_count_runs(struct store *store, long *count, struct error *err);

/* Is there any run? */
bool store_has_runs(struct store *store, bool *any, struct error *err);
