/* SPDX-License-Identifier: MIT */
#include "engine/server/record/history.h"

#include <stdlib.h>
#include <string.h>

#include "engine/server/record/thinning.h"

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

/* The first, the last, the best epoch, those that the stride meets, and whatever is no epoch. */
static void ring_thin(struct event_ring *ring, long stride, size_t *bytes)
{
    struct thinning thinning = THINNING_INIT;
    size_t kept = 0;
    for (size_t i = 0; i < ring->count; i++) {
        const struct event_mark *mark = &ring_at(ring, i)->mark;
        if (mark->epoch)
            thinning_add(&thinning, mark->epoch, mark->score);
    }
    for (size_t i = 0; i < ring->count; i++) {
        struct kept_event *event = ring_at(ring, i);
        if (!event->mark.epoch || thinning_keeps(&thinning, event->mark.epoch, stride)) {
            *ring_at(ring, kept++) = *event;
        } else {
            *bytes -= event->length;
            free(event->text);
        }
    }
    ring->count = kept;
}

/* Down to half of the limit, so that it is done seldom. */
static void thin_marks(struct history *history)
{
    struct event_ring *ring = &history->marks;
    if (ring->count < ring->limit)
        return;
    if (history->stride == 0)
        history->stride = 1;
    if (history->stride > 1)
        ring_thin(ring, history->stride, &history->bytes);
    while (ring->count > ring->limit / 2 && history->stride < THINNING_STRIDE_MOST) {
        history->stride *= 2;
        ring_thin(ring, history->stride, &history->bytes);
    }
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

void history_init(struct history *history, size_t step_limit, size_t mark_limit)
{
    *history = (struct history){.steps.limit = step_limit, .marks.limit = mark_limit};
}

void history_free(struct history *history)
{
    history_drop_steps(history);
    while (history->marks.count)
        ring_drop_oldest(&history->marks, &history->bytes);
    free(history->marks.slots);
    free(history->first.text);
    *history = (struct history){.next = 0};
}

bool history_add(struct history *history, const char *text, const struct event_mark *mark)
{
    struct kept_event event = {.text = strdup(text), .length = strlen(text)};
    event.number = history->next++;
    if (mark)
        event.mark = *mark;
    if (!event.text)
        return false;
    if (event.number == 0) {
        history->first = event;
        history->bytes += event.length;
        return true;
    }
    if (mark)
        thin_marks(history);
    if (!ring_add(mark ? &history->marks : &history->steps, event, &history->bytes)) {
        free(event.text);
        return false;
    }
    return true;
}

const struct kept_event *history_find(const struct history *history, uint64_t from, bool steps)
{
    if (from == 0 && history->first.text)
        return &history->first;
    const struct kept_event *step = steps ? ring_find(&history->steps, from) : NULL;
    const struct kept_event *mark = ring_find(&history->marks, from);
    if (!step || !mark)
        return step ? step : mark;
    return step->number < mark->number ? step : mark;
}

void history_drop_steps(struct history *history)
{
    while (history->steps.count)
        ring_drop_oldest(&history->steps, &history->bytes);
    free(history->steps.slots);
    history->steps = (struct event_ring){.limit = history->steps.limit};
}

void history_drop_marks(struct history *history)
{
    while (history->marks.count > 1)
        ring_drop_oldest(&history->marks, &history->bytes);
}

const struct kept_event *history_mark(const struct history *history, size_t index)
{
    return index < history->marks.count ? ring_at(&history->marks, index) : NULL;
}
