/* SPDX-License-Identifier: MIT */
#include "engine/server/record/event_buffer.h"

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
static void thin_marks(struct event_buffer *buffer)
{
    struct event_ring *ring = &buffer->marks;
    if (ring->count < ring->limit)
        return;
    if (buffer->stride == 0)
        buffer->stride = 1;
    if (buffer->stride > 1)
        ring_thin(ring, buffer->stride, &buffer->bytes);
    while (ring->count > ring->limit / 2 && buffer->stride < THINNING_STRIDE_MOST) {
        buffer->stride *= 2;
        ring_thin(ring, buffer->stride, &buffer->bytes);
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

void event_buffer_init(struct event_buffer *buffer, size_t step_limit, size_t mark_limit)
{
    *buffer = (struct event_buffer){.steps.limit = step_limit, .marks.limit = mark_limit};
}

void event_buffer_free(struct event_buffer *buffer)
{
    event_buffer_drop_steps(buffer);
    while (buffer->marks.count)
        ring_drop_oldest(&buffer->marks, &buffer->bytes);
    free(buffer->marks.slots);
    free(buffer->first.text);
    *buffer = (struct event_buffer){.next = 0};
}

bool event_buffer_add(struct event_buffer *buffer, const char *text, const struct event_mark *mark)
{
    struct kept_event event = {.text = strdup(text), .length = strlen(text)};
    event.number = buffer->next++;
    if (mark)
        event.mark = *mark;
    if (!event.text)
        return false;
    if (event.number == 0) {
        buffer->first = event;
        buffer->bytes += event.length;
        return true;
    }
    if (mark)
        thin_marks(buffer);
    if (!ring_add(mark ? &buffer->marks : &buffer->steps, event, &buffer->bytes)) {
        free(event.text);
        return false;
    }
    return true;
}

const struct kept_event *event_buffer_find(const struct event_buffer *buffer, uint64_t from,
                                           bool steps)
{
    if (from == 0 && buffer->first.text)
        return &buffer->first;
    const struct kept_event *step = steps ? ring_find(&buffer->steps, from) : NULL;
    const struct kept_event *mark = ring_find(&buffer->marks, from);
    if (!step || !mark)
        return step ? step : mark;
    return step->number < mark->number ? step : mark;
}

static void ring_shift(struct event_ring *ring, uint64_t by)
{
    for (size_t i = 0; i < ring->count; i++)
        ring_at(ring, i)->number += by;
}

void event_buffer_renumber(struct event_buffer *buffer, uint64_t next)
{
    if (buffer->next >= next)
        return;
    const uint64_t by = next - buffer->next;
    ring_shift(&buffer->steps, by);
    ring_shift(&buffer->marks, by);
    buffer->next = next;
    buffer->base = 1 + by;
}

void event_buffer_drop_steps(struct event_buffer *buffer)
{
    while (buffer->steps.count)
        ring_drop_oldest(&buffer->steps, &buffer->bytes);
    free(buffer->steps.slots);
    buffer->steps = (struct event_ring){.limit = buffer->steps.limit};
}

void event_buffer_drop_marks(struct event_buffer *buffer)
{
    while (buffer->marks.count > 1)
        ring_drop_oldest(&buffer->marks, &buffer->bytes);
}

const struct kept_event *event_buffer_mark(const struct event_buffer *buffer, size_t index)
{
    return index < buffer->marks.count ? ring_at(&buffer->marks, index) : NULL;
}

static bool is_called(const struct kept_event *event, const char *name)
{
    return event->mark.name && (!name || strcmp(event->mark.name, name) == 0);
}

const struct kept_event *event_buffer_newest(const struct event_buffer *buffer, const char *name)
{
    for (size_t i = buffer->marks.count; i > 0; i--)
        if (is_called(ring_at(&buffer->marks, i - 1), name))
            return ring_at(&buffer->marks, i - 1);
    return buffer->first.text && is_called(&buffer->first, name) ? &buffer->first : NULL;
}
