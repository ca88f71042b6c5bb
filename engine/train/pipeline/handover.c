/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/handover.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/deadline.h"

/* How often a stage that sleeps looks whether the run has been aborted. */
static const double LOOK_S = 0.02;

/* From a stage to the next. */
struct channel {
    char *memory;
    bool owns_memory;
    int slots;
    size_t bytes;                /* of a slot's values, or gradients */
    atomic_long values, answers; /* how many were given */
    atomic_bool waiting;         /* is the stage that it begins at */
};

struct handover {
    struct handover_options options;
    pthread_mutex_t lock; /* held to sleep and to wake, not for what is handed over */
    pthread_cond_t changed;
    atomic_long end; /* values that the first stage gives in all; LONG_MAX: not known */
    struct channel channel[];
};

bool handover_create(const struct handover_options *options, struct handover **out,
                     struct error *err)
{
    struct handover *h = calloc(1, sizeof *h + (size_t)options->stages * sizeof h->channel[0]);
    if (!h)
        return error_memory(err, "stages of a pipeline");
    h->options = *options;
    atomic_init(&h->end, LONG_MAX);
    for (int i = 0; i < options->stages; i++) {
        atomic_init(&h->channel[i].values, 0);
        atomic_init(&h->channel[i].answers, 0);
        atomic_init(&h->channel[i].waiting, false);
    }
    int status = pthread_mutex_init(&h->lock, NULL);
    if (status == 0) {
        status = deadline_cond_init(&h->changed);
        if (status != 0)
            pthread_mutex_destroy(&h->lock);
    }
    if (status != 0) {
        free(h);
        errno = status;
        return error_errno(err, "cannot connect %d stages", options->stages);
    }
    *out = h;
    return true;
}

static void release(struct channel *c)
{
    if (c->owns_memory)
        free(c->memory);
    c->memory = NULL;
}

void handover_destroy(struct handover *handover)
{
    if (!handover)
        return;
    for (int i = 0; i < handover->options.stages; i++)
        release(&handover->channel[i]);
    pthread_cond_destroy(&handover->changed);
    pthread_mutex_destroy(&handover->lock);
    free(handover);
}

static size_t slot_bytes(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

size_t handover_size(int slots, size_t bytes)
{
    return (2 * (size_t)slots * slot_bytes(bytes) + 4095) / 4096 * 4096;
}

bool handover_open(struct handover *handover, int stage, int slots, size_t bytes, void *memory,
                   struct error *err)
{
    struct channel *c = &handover->channel[stage];
    if (!memory && c->memory && c->slots == slots && c->bytes >= bytes)
        return true;
    release(c);
    c->slots = slots;
    c->bytes = slot_bytes(bytes);
    c->owns_memory = !memory;
    c->memory = memory ? memory : aligned_alloc(4096, handover_size(slots, bytes));
    return c->memory || error_memory(err, "what the stages of a pipeline hand over");
}

size_t handover_bytes(const struct handover *handover, int stage)
{
    const struct channel *c = &handover->channel[stage];
    return c->memory ? 2 * (size_t)c->slots * c->bytes : 0;
}

static void *slot_of(const struct channel *c, long micro_batch, int part)
{
    const size_t slot = c->memory ? (size_t)(micro_batch % c->slots) : 0;
    return c->memory ? c->memory + (2 * slot + (size_t)part) * c->bytes : NULL;
}

void *handover_values(const struct handover *handover, int stage, long micro_batch)
{
    return slot_of(&handover->channel[stage], micro_batch, 0);
}

void *handover_gradients(const struct handover *handover, int stage, long micro_batch)
{
    return slot_of(&handover->channel[stage], micro_batch, 1);
}

static void count_up(struct handover *h, atomic_long *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_release);
    pthread_mutex_lock(&h->lock);
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

void handover_give(struct handover *handover, int stage)
{
    if (stage < handover->options.stages - 1)
        count_up(handover, &handover->channel[stage].values);
}

void handover_answer(struct handover *handover, int stage)
{
    if (stage > 0)
        count_up(handover, &handover->channel[stage - 1].answers);
}

void handover_end(struct handover *handover)
{
    atomic_store(&handover->end, atomic_load(&handover->channel[0].values));
    pthread_mutex_lock(&handover->lock);
    pthread_cond_broadcast(&handover->changed);
    pthread_mutex_unlock(&handover->lock);
}

/* More than `count` of something, or nothing more to come. */
static bool is_there(const struct handover *h, const atomic_long *counter, long count)
{
    return atomic_load_explicit(counter, memory_order_acquire) > count ||
           atomic_load(&h->end) <= count;
}

static bool give_up(const struct handover *h, int stage, int other, struct error *err)
{
    error_set(err, ERROR_FAILED, "%s gave up after %.0f s of waiting for %s",
              h->options.names[stage], h->options.limit_s, h->options.names[other]);
    barrier_abort(h->options.barrier, h->options.party + other, err);
    return false;
}

bool handover_waiting(const struct handover *handover, int stage)
{
    return atomic_load(&handover->channel[stage].waiting);
}

static bool wait_until_there(struct handover *h, const atomic_long *counter, long count, int stage,
                             int other, struct error *err)
{
    const double begin = clock_seconds();
    int culprit;
    while (clock_seconds() - begin < h->options.spin_s && !is_there(h, counter, count))
        sched_yield();
    while (!is_there(h, counter, count)) {
        if (barrier_abort_reason(h->options.barrier, &culprit, err))
            return false;
        if (clock_seconds() - begin > h->options.limit_s)
            return give_up(h, stage, other, err);
        const struct timespec deadline = deadline_after(LOOK_S);
        pthread_mutex_lock(&h->lock);
        if (!is_there(h, counter, count))
            pthread_cond_timedwait(&h->changed, &h->lock, &deadline);
        pthread_mutex_unlock(&h->lock);
    }
    return true;
}

static bool wait_for(struct handover *h, const atomic_long *counter, long count, int stage,
                     int other, struct error *err)
{
    atomic_store(&h->channel[stage].waiting, true);
    bool ok = wait_until_there(h, counter, count, stage, other, err);
    atomic_store(&h->channel[stage].waiting, false);
    return ok;
}

bool handover_take(struct handover *handover, int stage, struct handover_counts *counts,
                   bool *ended, struct error *err)
{
    if (ended)
        *ended = false;
    if (stage == 0)
        return true;
    const atomic_long *values = &handover->channel[stage - 1].values;
    if (!wait_for(handover, values, counts->values, stage, stage - 1, err))
        return false;
    if (ended && atomic_load(values) <= counts->values)
        *ended = true;
    else
        counts->values++;
    return true;
}

bool handover_take_answer(struct handover *handover, int stage, struct handover_counts *counts,
                          struct error *err)
{
    if (stage == handover->options.stages - 1)
        return true;
    if (!wait_for(handover, &handover->channel[stage].answers, counts->answers++, stage, stage + 1,
                  err))
        return false;
    return true;
}
