/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/barrier.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/text.h"

/* What one party contributes to a sum. */
struct offer {
    double *values;
    size_t count, capacity;
};

struct party {
    /* Two offers used in turn: a party can only come back to the first one after a barrier that
     * everybody reached by having read it, so one barrier per sum is enough. */
    struct offer offers[2];
    unsigned turn;
    bool here;
};

struct barrier {
    int parties;
    const char *const *names;
    double limit_s;
    double spin_s;
    pthread_mutex_t lock; /* guards everything below except offers */
    pthread_cond_t changed;
    atomic_uint generation; /* barriers passed so far; also read by the busy loop */
    atomic_bool aborted;
    struct error reason;
    int culprit;
    int arrived;
    struct party party[];
};

/* Devices mostly arrive together, and waking a thread takes about as long. */
static const double SPIN_S = 200e-6;

bool barrier_create(int parties, const char *const *names, double limit_s, bool spin,
                    struct barrier **out, struct error *err)
{
    struct barrier *barrier =
        calloc(1, sizeof *barrier + (size_t)parties * sizeof barrier->party[0]);
    if (!barrier)
        return error_memory(err, "barrier");
    barrier->parties = parties;
    barrier->names = names;
    barrier->limit_s = limit_s;
    barrier->spin_s = spin ? SPIN_S : 0;
    atomic_init(&barrier->generation, 0);
    atomic_init(&barrier->aborted, false);
    int status = pthread_mutex_init(&barrier->lock, NULL);
    if (status == 0) {
        status = deadline_cond_init(&barrier->changed);
        if (status != 0)
            pthread_mutex_destroy(&barrier->lock);
    }
    if (status != 0) {
        free(barrier);
        errno = status;
        return error_errno(err, "cannot make the barrier of %d devices", parties);
    }
    *out = barrier;
    return true;
}

void barrier_destroy(struct barrier *barrier)
{
    if (!barrier)
        return;
    for (int i = 0; i < barrier->parties; i++)
        for (int j = 0; j < 2; j++)
            free(barrier->party[i].offers[j].values);
    pthread_cond_destroy(&barrier->changed);
    pthread_mutex_destroy(&barrier->lock);
    free(barrier);
}

static void abort_with(struct barrier *barrier, int culprit, const struct error *reason)
{
    if (atomic_load(&barrier->aborted))
        return;
    barrier->culprit = culprit;
    barrier->reason = *reason;
    atomic_store(&barrier->aborted, true);
    pthread_cond_broadcast(&barrier->changed);
}

void barrier_abort(struct barrier *barrier, int culprit, const struct error *reason)
{
    pthread_mutex_lock(&barrier->lock);
    abort_with(barrier, culprit, reason);
    pthread_mutex_unlock(&barrier->lock);
}

bool barrier_waiting(struct barrier *barrier, int party)
{
    pthread_mutex_lock(&barrier->lock);
    bool here = barrier->party[party].here;
    pthread_mutex_unlock(&barrier->lock);
    return here;
}

bool barrier_is_aborted(const struct barrier *barrier)
{
    return atomic_load(&barrier->aborted);
}

bool barrier_abort_reason(struct barrier *barrier, int *culprit, struct error *reason)
{
    pthread_mutex_lock(&barrier->lock);
    bool aborted = atomic_load(&barrier->aborted);
    if (aborted) {
        *culprit = barrier->culprit;
        *reason = barrier->reason;
    }
    pthread_mutex_unlock(&barrier->lock);
    return aborted;
}

static void abort_late(struct barrier *barrier, int party)
{
    struct error reason = ERROR_INIT;
    struct text missing = TEXT_INIT;
    int culprit = -1;
    for (int i = barrier->parties - 1; i >= 0; i--)
        if (!barrier->party[i].here)
            culprit = i;
    for (int i = 0; i < barrier->parties; i++)
        if (!barrier->party[i].here)
            text_printf(&missing, "%s%s", missing.length ? ", " : "", barrier->names[i]);
    const char *list = text_cstr(&missing);
    error_set(&reason, ERROR_FAILED, "%s gave up after %.0f s of waiting for %s",
              barrier->names[party], barrier->limit_s, list ? list : "another device");
    text_free(&missing);
    abort_with(barrier, culprit, &reason);
}

/* Has this barrier opened, or been aborted, without a sleep? */
static void spin_until_open(const struct barrier *barrier, unsigned generation)
{
    if (barrier->spin_s <= 0)
        return;
    double end = clock_seconds() + barrier->spin_s;
    while (atomic_load_explicit(&barrier->generation, memory_order_acquire) == generation &&
           !atomic_load_explicit(&barrier->aborted, memory_order_acquire) && clock_seconds() < end)
        sched_yield();
}

/* With the lock held: sleep until the barrier `generation` opens or is aborted. */
static void sleep_until_open(struct barrier *barrier, int party, unsigned generation)
{
    struct timespec deadline = deadline_after(barrier->limit_s);
    while (atomic_load(&barrier->generation) == generation && !atomic_load(&barrier->aborted))
        if (pthread_cond_timedwait(&barrier->changed, &barrier->lock, &deadline) == ETIMEDOUT &&
            atomic_load(&barrier->generation) == generation)
            abort_late(barrier, party);
}

bool barrier_wait(struct barrier *barrier, int party, double *waited, struct error *err)
{
    double begin = clock_seconds();
    pthread_mutex_lock(&barrier->lock);
    unsigned generation = atomic_load(&barrier->generation);
    bool open = false;
    if (!atomic_load(&barrier->aborted)) {
        barrier->party[party].here = true;
        if (++barrier->arrived == barrier->parties) {
            for (int i = 0; i < barrier->parties; i++)
                barrier->party[i].here = false;
            barrier->arrived = 0;
            atomic_store(&barrier->generation, generation + 1);
            pthread_cond_broadcast(&barrier->changed);
        } else {
            pthread_mutex_unlock(&barrier->lock);
            spin_until_open(barrier, generation);
            pthread_mutex_lock(&barrier->lock);
            sleep_until_open(barrier, party, generation);
        }
        open = atomic_load(&barrier->generation) != generation;
    }
    if (!open)
        *err = barrier->reason;
    pthread_mutex_unlock(&barrier->lock);
    *waited += clock_seconds() - begin;
    return open;
}

/* Put a copy of the values where the others can read it. */
static bool make_offer(struct offer *offer, const double *values, size_t count, struct error *err)
{
    if (count > offer->capacity) {
        double *grown = realloc(offer->values, count * sizeof *grown);
        if (!grown)
            return error_memory(err, "all-reduce between devices");
        offer->values = grown;
        offer->capacity = count;
    }
    memcpy(offer->values, values, count * sizeof *values);
    offer->count = count;
    return true;
}

bool barrier_sum(struct barrier *barrier, int party, double *values, size_t count, double *waited,
                 struct error *err)
{
    if (count == 0 || barrier->parties == 1)
        return true;
    unsigned turn = barrier->party[party].turn++ % 2;
    if (!make_offer(&barrier->party[party].offers[turn], values, count, err) ||
        !barrier_wait(barrier, party, waited, err))
        return false;
    for (int i = 0; i < barrier->parties; i++) {
        const struct offer *offer = &barrier->party[i].offers[turn];
        if (offer->count != count)
            return error_set(err, ERROR_FAILED,
                             "%s all-reduces %zu numbers where %s all-reduces %zu: the devices run "
                             "different networks",
                             barrier->names[party], count, barrier->names[i], offer->count);
        for (size_t j = 0; j < count; j++)
            values[j] = i == 0 ? offer->values[j] : values[j] + offer->values[j];
    }
    return true;
}
