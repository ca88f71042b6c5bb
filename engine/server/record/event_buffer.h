/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/server/record/event_mark.h"

/*
 * The events of a run that the engine keeps for those who follow it. Events are numbered from 0.
 * Steps are many and kept as far as a ring reaches; the others (epochs, the end) are few and kept
 * much longer, and event 0 always. Epochs that are too many are thinned (thinning.h). So a reader
 * whose next event is gone finds the first kept one after it and knows by the numbers how many it
 * missed.
 */
struct kept_event {
    char *text; /* the JSON of the notification's "params" */
    size_t length;
    uint64_t number;
    struct event_mark mark; /* of a step: all 0 */
};

struct event_ring {
    struct kept_event *slots; /* `allocated` of them, a power of two */
    size_t allocated, limit, head, count;
};

struct event_buffer {
    struct kept_event first;
    struct event_ring steps, marks;
    uint64_t next; /* number of the next event */
    uint64_t base; /* that of the one after event 0 where others had the numbers before it */
    size_t bytes;  /* of all kept texts */
    long stride;   /* by which epochs are thinned; 0: not yet */
};

void event_buffer_init(struct event_buffer *buffer, size_t step_limit, size_t mark_limit);
void event_buffer_free(struct event_buffer *buffer);

/* Keep a copy of `text`; `mark` is NULL for a step. False: memory ran out; the event counts as
 * dropped. */
bool event_buffer_add(struct event_buffer *buffer, const char *text, const struct event_mark *mark);

/*
 * The first kept event whose number is at least `from`, steps included or not; NULL when there is
 * none yet. Valid until the buffer changes.
 */
const struct kept_event *event_buffer_find(const struct event_buffer *buffer, uint64_t from,
                                           bool steps);

/* Give the events after event 0 the last numbers below `next`, unless theirs are higher already. */
void event_buffer_renumber(struct event_buffer *buffer, uint64_t next);

/* Drop all kept steps, or of everything but event 0 and the newest mark. */
void event_buffer_drop_steps(struct event_buffer *buffer);
void event_buffer_drop_marks(struct event_buffer *buffer);

/* Mark number `index` of the kept ones, oldest first; NULL past the newest. */
const struct kept_event *event_buffer_mark(const struct event_buffer *buffer, size_t index);

/* The newest mark with this name, or with any (NULL), event 0 among them; NULL: there is none. */
const struct kept_event *event_buffer_newest(const struct event_buffer *buffer, const char *name);
