/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/memory_pool.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"

struct buffer *pool_add(struct pool *pool, enum buffer_region region, size_t size)
{
    struct buffer **list = array_grow(pool->list, pool->count, &pool->capacity, sizeof *list);
    if (!list)
        return NULL;
    pool->list = list;
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return NULL;
    buffer->region = region;
    buffer->size = memory_round(size);
    buffer->first = buffer->last = -1;
    pool->list[pool->count++] = buffer;
    return buffer;
}

void buffer_use(struct buffer *buffer, int time)
{
    if (buffer->first < 0 || time < buffer->first)
        buffer->first = time;
    if (time > buffer->last)
        buffer->last = time;
}

typedef int compare_fn(const void *left, const void *right);

/* Largest first; the order of equal ones is theirs in time, so that a plan is reproducible. */
static int compare_size(const void *left, const void *right)
{
    const struct buffer *a = *(struct buffer *const *)left, *b = *(struct buffer *const *)right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->last > b->last) - (a->last < b->last);
}

/* Longest-lived first; equal ones by size. */
static int compare_life(const void *left, const void *right)
{
    const struct buffer *a = *(struct buffer *const *)left, *b = *(struct buffer *const *)right;
    int life_a = a->last - a->first, life_b = b->last - b->first;
    return life_a != life_b ? (life_a > life_b ? -1 : 1) : compare_size(left, right);
}

/* The lowest offset at which `buffer` meets none of the `count` placed ones. */
static size_t lowest_place(struct buffer *const *placed, int count, const struct buffer *buffer)
{
    size_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < count; i++) {
            const struct buffer *other = placed[i];
            bool meets = other->first <= buffer->last && buffer->first <= other->last &&
                         other->offset < offset + buffer->size &&
                         offset < other->offset + other->size;
            if (meets) {
                offset = other->offset + other->size;
                moved = true;
            }
        }
    }
    return offset;
}

/* Sort and place order[from..to) next to those before; the end of the region they all need. */
static size_t place(struct buffer **order, int from, int to, compare_fn *compare)
{
    size_t end = 0;
    qsort(order + from, (size_t)(to - from), sizeof *order, compare);
    for (int i = 0; i < to; i++) {
        if (i >= from)
            order[i]->offset = lowest_place(order, i, order[i]);
        if (order[i]->offset + order[i]->size > end)
            end = order[i]->offset + order[i]->size;
    }
    return end;
}

/* The buffers of a region that are used, from order[count] on; how many there are then. */
static int gather(const struct pool *pool, enum buffer_region region, struct buffer **order,
                  int count)
{
    for (int i = 0; i < pool->count; i++)
        if (pool->list[i]->region == region && pool->list[i]->first >= 0)
            order[count++] = pool->list[i];
    return count;
}

/* Ways to lay out a region: scratch in what the planned ones leave free, or all in one order. */
static const struct way {
    bool apart;
    compare_fn *compare;
} ways[] = {{false, compare_size}, {true, compare_size}, {false, compare_life}};

/* The end of the region, with scratch or without. */
static size_t lay_out(const struct pool *pool, struct buffer **order, bool scratch,
                      const struct way *way)
{
    int kept = gather(pool, BUFFER_PLANNED, order, 0);
    int count = scratch ? gather(pool, BUFFER_SCRATCH, order, kept) : kept;
    if (way->apart)
        place(order, 0, kept, way->compare);
    return place(order, way->apart ? kept : 0, count, way->compare);
}

/* The same, the way that needs least. */
static size_t lay_out_best(const struct pool *pool, struct buffer **order, bool scratch)
{
    const struct way *best = ways;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t end = lay_out(pool, order, scratch, &ways[i]);
        if (end < least) {
            least = end;
            best = &ways[i];
        }
    }
    return lay_out(pool, order, scratch, best);
}

bool pool_layout(struct pool *pool, size_t *planned, size_t *scratch, struct error *err)
{
    struct buffer **order = malloc((size_t)(pool->count + 1) * sizeof *order);
    if (!order)
        return error_memory(err, "laying out a plan");
    *planned = lay_out_best(pool, order, false);
    size_t end = lay_out_best(pool, order, true);
    if (*planned > end)
        *planned = end;
    *scratch = end - *planned;
    free(order);
    return true;
}

size_t pool_keep(struct pool *pool, int middle)
{
    size_t end = 0;
    for (int i = 0; i < pool->count; i++) {
        struct buffer *buffer = pool->list[i];
        if (buffer->region != BUFFER_PLANNED || buffer->first < 0 || buffer->first >= middle ||
            buffer->last < middle)
            continue;
        buffer->region = BUFFER_KEPT;
        buffer->offset = end;
        end += buffer->size;
    }
    return end;
}

void pool_free(struct pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        free(pool->list[i]);
    free(pool->list);
    *pool = (struct pool){0};
}
