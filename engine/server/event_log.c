/* SPDX-License-Identifier: MIT */
#include "engine/server/event_log.h"

#include <stdlib.h>
#include <string.h>

#define RING_START 64

static struct kept_event *ring_at(const struct event_ring *ring, size_t index)
{
    return &ring->slots[(ring->head + index) & (ring->allocated - 1)];
}

static void ring_drop_oldest(struct event_ring *ring, size_t *bytes)
{
    struct kept_event *oldest = ring_at(ring, 0);
    *bytes -= oldest->length;
    free(oldest->text);
    ring->head = (ring->head + 1) & (ring->allocated - 1);
    ring->count--;
}

static bool ring_grow(struct event_ring *ring)
{
    size_t allocated = ring->allocated ? 2 * ring->allocated : RING_START;
    struct kept_event *slots = calloc(allocated, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < ring->count; i++)
        slots[i] = *ring_at(ring, i);
    free(ring->slots);
    ring->slots = slots;
    ring->allocated = allocated;
    ring->head = 0;
    return true;
}

static bool ring_add(struct event_ring *ring, struct kept_event event, size_t *bytes)
{
    while (ring->count && ring->count >= ring->limit)
        ring_drop_oldest(ring, bytes);
    if (ring->count == ring->allocated && !ring_grow(ring))
        return false;
    ring->count++;
    *ring_at(ring, ring->count - 1) = event;
    *bytes += event.length;
    return true;
}

/* First event of the ring with at least this number: they ascend. */
static const struct kept_event *ring_find(const struct event_ring *ring, uint64_t from)
{
    size_t low = 0, high = ring->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ring_at(ring, middle)->number < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ring->count ? ring_at(ring, low) : NULL;
}

void event_log_init(struct event_log *log, size_t step_limit, size_t mark_limit)
{
    *log = (struct event_log){.steps.limit = step_limit, .marks.limit = mark_limit};
}

void event_log_free(struct event_log *log)
{
    event_log_drop_steps(log);
    while (log->marks.count)
        ring_drop_oldest(&log->marks, &log->bytes);
    free(log->marks.slots);
    free(log->first.text);
    *log = (struct event_log){.next = 0};
}

bool event_log_add(struct event_log *log, const char *text, bool is_step)
{
    struct kept_event event = {strdup(text), strlen(text), log->next++};
    if (!event.text)
        return false;
    if (event.number == 0) {
        log->first = event;
        log->bytes += event.length;
        return true;
    }
    if (!ring_add(is_step ? &log->steps : &log->marks, event, &log->bytes)) {
        free(event.text);
        return false;
    }
    return true;
}

const struct kept_event *event_log_find(const struct event_log *log, uint64_t from)
{
    if (from == 0 && log->first.text)
        return &log->first;
    const struct kept_event *step = ring_find(&log->steps, from);
    const struct kept_event *mark = ring_find(&log->marks, from);
    if (!step || !mark)
        return step ? step : mark;
    return step->number < mark->number ? step : mark;
}

void event_log_drop_steps(struct event_log *log)
{
    while (log->steps.count)
        ring_drop_oldest(&log->steps, &log->bytes);
    free(log->steps.slots);
    log->steps = (struct event_ring){.limit = log->steps.limit};
}

void event_log_drop_marks(struct event_log *log)
{
    while (log->marks.count > 1)
        ring_drop_oldest(&log->marks, &log->bytes);
}

const struct kept_event *event_log_mark(const struct event_log *log, size_t index)
{
    return index < log->marks.count ? ring_at(&log->marks, index) : NULL;
}
