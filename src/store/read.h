/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "store/query.h"

/*
 * A run object with "spec", "environment", "device_figures", "profile" and "timeline" (the newest,
 * if there is one) and "tags": all but its rows (rows.h), so that it takes little memory however
 * long the run was. ERROR_ABSENT: there is no such run.
 */
bool store_head(struct store *store, long run, json_t **object, struct error *err);

/* The kept events of one name, or all (NULL), oldest first; an empty array for an unknown run. */
bool store_events(struct store *store, long run, const char *name, json_t **events,
                  struct error *err);

/* The "point" events, by their steps. */
bool store_points(struct store *store, long run, json_t **points, struct error *err);

/* The tags of a run, sorted; a new array. */
bool store_tags(struct store *store, long run, json_t **tags, struct error *err);

/* The first column of all rows, parsed, as a new array; ends the query. */
bool store_collect(struct query *query, json_t **list, struct error *err);
