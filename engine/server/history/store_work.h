/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "store/store.h"

/* What has to be written into the run store: items in the order in which they were handed
 * over, owned by the list that they are in. */

enum store_work_kind {
    WORK_RUN,
    WORK_EVENT,
    WORK_EPOCH, /* an event, too */
    WORK_REWIND,
    WORK_POINT,
    WORK_POINTS,
    WORK_TAGS,
    WORK_DELETE
};

struct store_work {
    struct store_work *next;
    enum store_work_kind kind;
    long run;
    const char *name;
    char *text;
    long epoch;   /* of WORK_EPOCH */
    double score; /* of WORK_EPOCH: its member_score, or NAN */
    long steps;   /* of WORK_REWIND */
    json_t *json, *spec, *environment;
};

struct store_work_list {
    struct store_work *first, **end;
    long count;
};

/* NULL: nothing. */
void store_work_free(struct store_work *work);
void store_work_add(struct store_work_list *list, struct store_work *work);
/* The first of a list that is not empty; the caller's from then on. */
struct store_work *store_work_take(struct store_work_list *list);
/* All of `more` after what is in `list`; it is empty afterwards. */
void store_work_join(struct store_work_list *list, struct store_work_list *more);
void store_work_clear(struct store_work_list *list);
/* WORK_RUN: takes the place of the earlier state of the same run, if there is one in the list. */
void store_work_put_state(struct store_work_list *list, struct store_work *state);
/* One piece, inside the caller's transaction. */
bool store_work_do(struct store *store, const struct store_work *work, struct error *err);

struct store_taken;

/* Other runs of the store that have the numbers of runs in the list get new ones; counted in
 * *taken. */
bool store_work_make_way(struct store *store, const struct store_work_list *list,
                         struct store_taken *taken, struct error *err);
