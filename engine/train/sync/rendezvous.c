/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/rendezvous.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/text.h"

/* What one party puts down for a sum. */
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

struct rendezvous {
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

/* Devices that begin together mostly come together; one that sleeps takes up to as long to wake. */
static const double SPIN_S = 200e-6;

bool rendezvous_create(int parties, const char *const *names, double limit_s, bool spin,
                       struct rendezvous **out, struct error *err)
{
    struct rendezvous *meeting =
        calloc(1, sizeof *meeting + (size_t)parties * sizeof meeting->party[0]);
    if (!meeting)
        return error_memory(err, "rendezvous");
    meeting->parties = parties;
    meeting->names = names;
    meeting->limit_s = limit_s;
    meeting->spin_s = spin ? SPIN_S : 0;
    atomic_init(&meeting->generation, 0);
    atomic_init(&meeting->aborted, false);
    int status = pthread_mutex_init(&meeting->lock, NULL);
    if (status == 0) {
        status = deadline_cond_init(&meeting->changed);
        if (status != 0)
            pthread_mutex_destroy(&meeting->lock);
    }
    if (status != 0) {
        free(meeting);
        errno = status;
        return error_errno(err, "cannot make the rendezvous of %d devices", parties);
    }
    *out = meeting;
    return true;
}

void rendezvous_destroy(struct rendezvous *meeting)
{
    if (!meeting)
        return;
    for (int i = 0; i < meeting->parties; i++)
        for (int j = 0; j < 2; j++)
            free(meeting->party[i].offers[j].values);
    pthread_cond_destroy(&meeting->changed);
    pthread_mutex_destroy(&meeting->lock);
    free(meeting);
}

static void call_off(struct rendezvous *meeting, int culprit, const struct error *reason)
{
    if (atomic_load(&meeting->aborted))
        return;
    meeting->culprit = culprit;
    meeting->reason = *reason;
    atomic_store(&meeting->aborted, true);
    pthread_cond_broadcast(&meeting->changed);
}

void rendezvous_abort(struct rendezvous *meeting, int culprit, const struct error *reason)
{
    pthread_mutex_lock(&meeting->lock);
    call_off(meeting, culprit, reason);
    pthread_mutex_unlock(&meeting->lock);
}

bool rendezvous_waiting(struct rendezvous *meeting, int party)
{
    pthread_mutex_lock(&meeting->lock);
    bool here = meeting->party[party].here;
    pthread_mutex_unlock(&meeting->lock);
    return here;
}

bool rendezvous_called_off(const struct rendezvous *meeting)
{
    return atomic_load(&meeting->aborted);
}

bool rendezvous_aborted(struct rendezvous *meeting, int *culprit, struct error *reason)
{
    pthread_mutex_lock(&meeting->lock);
    bool aborted = atomic_load(&meeting->aborted);
    if (aborted) {
        *culprit = meeting->culprit;
        *reason = meeting->reason;
    }
    pthread_mutex_unlock(&meeting->lock);
    return aborted;
}

static void call_off_late(struct rendezvous *meeting, int party)
{
    struct error reason = ERROR_INIT;
    struct text missing = TEXT_INIT;
    int culprit = -1;
    for (int i = meeting->parties - 1; i >= 0; i--)
        if (!meeting->party[i].here)
            culprit = i;
    for (int i = 0; i < meeting->parties; i++)
        if (!meeting->party[i].here)
            text_printf(&missing, "%s%s", missing.length ? ", " : "", meeting->names[i]);
    const char *list = text_cstr(&missing);
    error_set(&reason, ERROR_FAILED, "%s gave up after %.0f s of waiting for %s",
              meeting->names[party], meeting->limit_s, list ? list : "another device");
    text_free(&missing);
    call_off(meeting, culprit, &reason);
}

/* Has this barrier opened, or been called off, without a sleep? */
static void spin_until_open(const struct rendezvous *meeting, unsigned generation)
{
    if (meeting->spin_s <= 0)
        return;
    double end = clock_seconds() + meeting->spin_s;
    while (atomic_load_explicit(&meeting->generation, memory_order_acquire) == generation &&
           !atomic_load_explicit(&meeting->aborted, memory_order_acquire) && clock_seconds() < end)
        sched_yield();
}

/* With the lock held: sleep until the barrier `generation` opens or is called off. */
static void sleep_until_open(struct rendezvous *meeting, int party, unsigned generation)
{
    struct timespec deadline = deadline_after(meeting->limit_s);
    while (atomic_load(&meeting->generation) == generation && !atomic_load(&meeting->aborted))
        if (pthread_cond_timedwait(&meeting->changed, &meeting->lock, &deadline) == ETIMEDOUT &&
            atomic_load(&meeting->generation) == generation)
            call_off_late(meeting, party);
}

bool rendezvous_wait(struct rendezvous *meeting, int party, double *waited, struct error *err)
{
    double begin = clock_seconds();
    pthread_mutex_lock(&meeting->lock);
    unsigned generation = atomic_load(&meeting->generation);
    bool open = false;
    if (!atomic_load(&meeting->aborted)) {
        meeting->party[party].here = true;
        if (++meeting->arrived == meeting->parties) {
            for (int i = 0; i < meeting->parties; i++)
                meeting->party[i].here = false;
            meeting->arrived = 0;
            atomic_store(&meeting->generation, generation + 1);
            pthread_cond_broadcast(&meeting->changed);
        } else {
            pthread_mutex_unlock(&meeting->lock);
            spin_until_open(meeting, generation);
            pthread_mutex_lock(&meeting->lock);
            sleep_until_open(meeting, party, generation);
        }
        open = atomic_load(&meeting->generation) != generation;
    }
    if (!open)
        *err = meeting->reason;
    pthread_mutex_unlock(&meeting->lock);
    *waited += clock_seconds() - begin;
    return open;
}

/* Put a copy of the values where the others can read it. */
static bool make_offer(struct offer *offer, const double *values, size_t count, struct error *err)
{
    if (count > offer->capacity) {
        double *grown = realloc(offer->values, count * sizeof *grown);
        if (!grown)
            return error_memory(err, "exchange between devices");
        offer->values = grown;
        offer->capacity = count;
    }
    memcpy(offer->values, values, count * sizeof *values);
    offer->count = count;
    return true;
}

bool rendezvous_sum(struct rendezvous *meeting, int party, double *values, size_t count,
                    double *waited, struct error *err)
{
    if (count == 0 || meeting->parties == 1)
        return true;
    unsigned turn = meeting->party[party].turn++ % 2;
    if (!make_offer(&meeting->party[party].offers[turn], values, count, err) ||
        !rendezvous_wait(meeting, party, waited, err))
        return false;
    for (int i = 0; i < meeting->parties; i++) {
        const struct offer *offer = &meeting->party[i].offers[turn];
        if (offer->count != count)
            return error_set(err, ERROR_FAILED,
                             "%s exchanges %zu numbers where %s exchanges %zu: the devices run "
                             "different networks",
                             meeting->names[party], count, meeting->names[i], offer->count);
        for (size_t j = 0; j < count; j++)
            values[j] = i == 0 ? offer->values[j] : values[j] + offer->values[j];
    }
    return true;
}
