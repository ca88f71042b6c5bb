/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* How many epochs of a run the store has, and fewer of them for readers that cannot take all. */
struct store;

/* "thinned":{"kept":K,"of":N} of the object of a run with fewer epochs in the store than it has
 * trained. */
bool store_put_thinned(struct store *store, long run, json_t *object, struct error *err);

/* All events of a run, of whose epochs about `most` at most: the first, the last, the best by test
 * accuracy and an even selection in between. */
bool store_events_thinned(struct store *store, long run, long most, json_t **events,
                          struct error *err);
