/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/record/record.h"

/* A run that an earlier engine kept, from its run object with "spec": its events are away. NULL:
 * the object is damaged, or memory ran out. */
struct record *record_restore(const json_t *object);

/* The events and points of a run that is away, as the store has them. */
struct record_past {
    struct event_buffer events;
    struct curve curve;
};

/* Without the queue's lock, for it takes a while. False: memory ran out, and *past is empty. */
bool record_past_read(struct record_past *past, const json_t *events, const json_t *points);
void record_past_free(struct record_past *past);
/* The run is not away any more; takes over *past. */
void record_load(struct record *record, struct record_past *past);
