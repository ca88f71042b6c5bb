/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/micro_batch.h"

/* Alignment of every buffer: what GPU libraries ask for; on a CPU a cache line is enough. */
#define MEMORY_ALIGN 256

static inline size_t memory_round(size_t bytes)
{
    return (bytes + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN;
}

/*
 * A piece of a plan's memory. Where it lies is decided once the whole plan is known, from the steps
 * in which it is used; `data` is set when the plan is bound to the device's workspace.
 */
enum buffer_region {
    BUFFER_PLANNED,  /* shares memory with buffers whose steps do not meet its own */
    BUFFER_SCRATCH,  /* of one step only; shares memory with the planned ones */
    BUFFER_INPUT,    /* staged rows */
    BUFFER_FIXED,    /* lies elsewhere (an arena); `data` never changes */
    BUFFER_KEPT,     /* of a stage: from forward to backward, in a slot for each micro-batch */
    BUFFER_DEFERRED, /* of a stage: what several micro-batches leave to plan_finish */
    /* Of a stage: where it meets a neighbour, which `end` names; the offset counts from there. It
     * is one at which a row may begin, not MEMORY_ALIGN. */
    BUFFER_END,
};

struct buffer {
    enum buffer_region region;
    size_t size, offset; /* bytes; the offset counts from the region's start */
    int first, last;     /* steps between which its contents matter; -1: never used */
    enum stage_end end;  /* of BUFFER_END */
    int holders;         /* of a gradient while a plan is built: who still has to read it */
    void *data;
};

struct pool {
    struct buffer **list;
    int count, capacity;
};

/* A new buffer, owned by the pool; NULL when memory ran out. */
struct buffer *pool_add(struct pool *pool, enum buffer_region region, size_t size);
/* Note that step `time` reads or writes the buffer. */
void buffer_use(struct buffer *buffer, int time);
/*
 * Give planned buffers and scratch their offsets in one region so that no two that live at the same
 * time overlap, each at the lowest place that is free for its whole life. Of several orders the one
 * whose region is the smallest: the largest first ("greedy by size", Pisarchyk and Lee 2020,
 * arXiv:2001.03288), scratch after the planned ones or among them, or the longest-lived first
 * (Sekiyama et al. 2018, arXiv:1804.10001). Sizes in bytes: *planned of the region without
 * scratch, *scratch by how much it is larger with it.
 */
bool pool_layout(struct pool *pool, size_t *planned, size_t *scratch, struct error *err);
/* Move planned buffers that are used both before step `middle` and from it on to BUFFER_KEPT, each
 * at a place of its own; the bytes of them all. Before pool_layout. */
size_t pool_keep(struct pool *pool, int middle);
void pool_free(struct pool *pool);
