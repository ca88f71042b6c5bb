/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/collective/nccl_guard.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/text.h"

/*
 * Communicators are blocking: a call returns once its work is queued, on the caller's own thread,
 * where a non-blocking one starts a thread each time (NCCL's group.cc). The first calls also
 * connect the ranks, for which all must come. So each call is entered in the link, and the watchdog
 * sets NCCL's abort flags when one takes too long.
 *
 * ncclCommAbort of all ranks of a process but the last only sets flags; the last one frees what all
 * of them use and may block (NCCL's init.cc, commReclaim). So it is called for those first whose
 * threads are inside NCCL, and for the last one when no thread is. ncclCommDestroy likewise waits
 * for all ranks' kernels in the last call.
 */

/* How often the watchdog looks; for how long at most the end of communicators is waited for. */
static const double LOOK_S = 0.05, PART_S = 10;

static double part_s(const struct link *link)
{
    return link->request.limit_s > 0 ? fmin(link->request.limit_s, PART_S) : PART_S;
}

const char NCCL_JOINING[] = "communicator";

bool nccl_intact(struct link *link, struct error *err)
{
    if (!atomic_load_explicit(&link->broken, memory_order_acquire))
        return true;
    *err = link->reason;
    return false;
}

/* With the lock held. */
static void break_off(struct link *link, const struct error *reason)
{
    if (atomic_load(&link->broken))
        return;
    link->reason = *reason;
    atomic_store_explicit(&link->broken, true, memory_order_release);
    pthread_cond_broadcast(&link->changed);
}

void nccl_break(struct link *link, const struct error *reason)
{
    pthread_mutex_lock(&link->lock);
    break_off(link, reason);
    pthread_mutex_unlock(&link->lock);
}

bool nccl_enter(struct link *link, int member, const char *what, double limit_s, struct error *err)
{
    struct nccl_end *end = &link->ends[member];
    pthread_mutex_lock(&link->lock);
    bool ok = nccl_intact(link, err);
    if (ok) {
        end->inside = what;
        end->since = clock_seconds();
        end->limit_s = limit_s;
    }
    pthread_mutex_unlock(&link->lock);
    atomic_fetch_add(&end->queued, 1);
    return ok;
}

bool nccl_return(struct link *link, int member, const char *what, ncclResult_t status,
                 struct error *err)
{
    bool ok = nccl_check(link->api, status, what, err) ||
              error_prefix(err, "%s: NCCL", link->request.names[member]);
    pthread_mutex_lock(&link->lock);
    link->ends[member].inside = NULL;
    if (!ok)
        break_off(link, err);
    pthread_cond_broadcast(&link->changed);
    /* What an aborted call says about itself is not why it was aborted. */
    ok = nccl_intact(link, err) && ok;
    pthread_mutex_unlock(&link->lock);
    return ok;
}

void nccl_gone(struct link *link, int member, bool broken)
{
    struct nccl_end *end = &link->ends[member];
    struct timespec deadline = deadline_after(part_s(link));
    struct error reason = ERROR_INIT;
    error_set(&reason, ERROR_FAILED, "%s: NCCL: the run has failed", link->request.names[member]);
    pthread_mutex_lock(&link->lock);
    if (broken)
        break_off(link, &reason);
    bool first = !end->left;
    link->left += first;
    end->left = true;
    pthread_cond_broadcast(&link->changed);
    /* What waits on the GPU is over once the communicator is aborted. */
    while (first && atomic_load(&link->broken) && !link->ended &&
           pthread_cond_timedwait(&link->changed, &link->lock, &deadline) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&link->lock);
}

/* Those whose hosts have asked for less than `member`. */
static void blame(const struct link *link, int member, struct error *reason)
{
    struct text late = TEXT_INIT;
    const struct nccl_end *end = &link->ends[member];
    long mine = atomic_load(&end->queued);
    for (int i = 0; i < link->request.count; i++)
        if (atomic_load(&link->ends[i].queued) < mine)
            text_printf(&late, "%s%s", late.length ? ", " : "", link->request.names[i]);
    const char *list = late.length ? text_cstr(&late) : NULL;
    error_set(reason, ERROR_FAILED, "%s waited %.0f s for %s (NCCL, %s)",
              link->request.names[member], end->limit_s,
              list ? list : "the other GPUs; see dmesg and nvidia-smi topo -m", end->inside);
    text_free(&late);
}

/* With the lock held: a reason to end it all? */
static void look(struct link *link)
{
    const struct link_request *request = &link->request;
    struct error reason = ERROR_INIT;
    if (request->called_off(request->context)) {
        error_set(&reason, ERROR_CANCELLED, "reductions by NCCL were called off");
        break_off(link, &reason);
    }
    for (int i = 0; i < request->count && !atomic_load(&link->broken); i++) {
        const struct nccl_end *end = &link->ends[i];
        ncclResult_t state = ncclSuccess;
        if (end->inside) {
            if (end->limit_s <= 0 || clock_seconds() - end->since <= end->limit_s)
                continue;
            blame(link, i, &reason);
            break_off(link, &reason);
        } else if (end->comm) {
            ncclResult_t status = link->api->CommGetAsyncError(end->comm, &state);
            status = status == ncclSuccess ? state : status;
            if (!nccl_check(link->api, status, NCCL_JOINING, &reason)) {
                error_prefix(&reason, "%s: NCCL", request->names[i]);
                break_off(link, &reason);
            }
        }
    }
}

static void wait_a_moment(struct link *link)
{
    struct timespec deadline = deadline_after(LOOK_S);
    pthread_cond_timedwait(&link->changed, &link->lock, &deadline);
}

static ncclComm_t communicator(const struct link *link, int member)
{
    return __atomic_load_n(&link->ends[member].comm, __ATOMIC_ACQUIRE);
}

static bool is_inside(const struct nccl_end *end)
{
    return end->inside && end->inside != NCCL_JOINING;
}

/* With the lock held: the next communicator to abort, one whose thread is inside a call before
 * others; -1: there is none. *left: how many there are. */
static int next_to_abort(const struct link *link, int *left)
{
    int next = -1;
    *left = 0;
    for (int i = 0; i < link->request.count; i++) {
        if (link->ends[i].aborted || !communicator(link, i))
            continue;
        if (next < 0 || (link->ends[i].inside && !link->ends[next].inside))
            next = i;
        ++*left;
    }
    return next;
}

static bool somebody_inside(const struct link *link, bool joining)
{
    for (int i = 0; i < link->request.count; i++)
        if (is_inside(&link->ends[i]) || (joining && link->ends[i].inside))
            return true;
    return false;
}

/* With the lock held: set all flags but the last; then, unless a thread stays inside, free all.
 * While the ranks connect for the first time nothing is shared yet. */
static void abort_all(struct link *link)
{
    double began = clock_seconds();
    int left, next = next_to_abort(link, &left);
    while (next >= 0 || somebody_inside(link, true)) {
        if (next < 0 || (left == 1 && somebody_inside(link, false))) {
            if (clock_seconds() - began > part_s(link))
                return;
            wait_a_moment(link);
        } else {
            ncclComm_t comm = communicator(link, next);
            link->ends[next].aborted = true;
            pthread_mutex_unlock(&link->lock);
            link->api->CommAbort(comm);
            pthread_mutex_lock(&link->lock);
        }
        next = next_to_abort(link, &left);
    }
}

/* Nobody uses the link any more. */
static void destroy_all(struct link *link)
{
    for (int i = 0; i < link->request.count; i++)
        if (link->ends[i].comm)
            link->api->CommDestroy(link->ends[i].comm);
}

static void release(struct link *link)
{
    pthread_cond_destroy(&link->changed);
    pthread_mutex_destroy(&link->marks_lock);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

static void *guard_main(void *context)
{
    struct link *link = context;
    pthread_mutex_lock(&link->lock);
    while (!atomic_load(&link->broken) && link->left < link->request.count) {
        look(link);
        if (!atomic_load(&link->broken))
            wait_a_moment(link);
    }
    if (atomic_load(&link->broken)) {
        abort_all(link);
    } else {
        pthread_mutex_unlock(&link->lock);
        destroy_all(link);
        pthread_mutex_lock(&link->lock);
    }
    link->ended = true;
    bool given_up = link->given_up;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    if (given_up)
        release(link);
    return NULL;
}

static bool start_thread(struct link *link, struct error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&link->thread, NULL, guard_main, link);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0) {
        pthread_setname_np(link->thread, "nccl-guard");
        return true;
    }
    errno = status;
    return error_errno(err, "NCCL's watchdog: cannot start its thread (limits: ulimit -u)");
}

bool nccl_guard_start(struct link *link, struct error *err)
{
    int status = pthread_mutex_init(&link->lock, NULL);
    if (status == 0 && (status = pthread_mutex_init(&link->marks_lock, NULL)) != 0)
        pthread_mutex_destroy(&link->lock);
    if (status == 0 && (status = deadline_cond_init(&link->changed)) != 0) {
        pthread_mutex_destroy(&link->marks_lock);
        pthread_mutex_destroy(&link->lock);
    }
    if (status != 0) {
        errno = status;
        return error_errno(err, "cannot make the lock of NCCL's watchdog");
    }
    if (start_thread(link, err))
        return true;
    pthread_cond_destroy(&link->changed);
    pthread_mutex_destroy(&link->marks_lock);
    pthread_mutex_destroy(&link->lock);
    return false;
}

void nccl_guard_end(struct link *link)
{
    struct timespec deadline = deadline_after(2 * part_s(link));
    pthread_t thread = link->thread;
    pthread_mutex_lock(&link->lock);
    link->left = link->request.count; /* those that never came, too */
    pthread_cond_broadcast(&link->changed);
    while (!link->ended &&
           pthread_cond_timedwait(&link->changed, &link->lock, &deadline) != ETIMEDOUT)
        continue;
    bool ended = link->ended;
    link->given_up = !ended;
    pthread_mutex_unlock(&link->lock);
    if (ended) {
        pthread_join(thread, NULL);
        release(link);
        return;
    }
    pthread_detach(thread);
    fprintf(stderr, "NCCL cannot end its communicators: a GPU or its driver hangs; their memory "
                    "stays taken until the engine is restarted (dpartui engine stop --now)\n");
}
