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
 * connect the ranks, for which all must come. So each call is entered in the group, and the
 * watchdog sets NCCL's abort flags when one takes too long.
 *
 * ncclCommAbort of all ranks of a process but the last only sets flags; the last one frees what all
 * of them use and may block (NCCL's init.cc, commReclaim). So it is called for those first whose
 * threads are inside NCCL, and for the last one when no thread is. ncclCommDestroy likewise waits
 * for all ranks' kernels in the last call.
 */

/* How often the watchdog looks; for how long at most the end of communicators is waited for. */
static const double LOOK_S = 0.05, PART_S = 10;

static double part_s(const struct device_group *group)
{
    return group->request.limit_s > 0 ? fmin(group->request.limit_s, PART_S) : PART_S;
}

const char NCCL_JOINING[] = "communicator";

bool nccl_spans(const struct device_group *group)
{
    return group->ranks > group->request.count;
}

void nccl_blame(const struct device_group *group, int rank, struct text *late, double limit_s,
                const char *what, struct error *reason)
{
    const char *list = late->length ? text_cstr(late) : NULL;
    const bool spans = nccl_spans(group);
    error_set(reason, !list && spans ? ERROR_LOST : ERROR_FAILED,
              "%s waited %.0f s for %s (NCCL, %s)", group->request.names[rank], limit_s,
              list    ? list
              : spans ? "the GPUs of other hosts; see dmesg and nvidia-smi there"
                      : "the other GPUs; see dmesg and nvidia-smi topo -m",
              what);
}

/* As nccl_check, of communicators that are made: that another process has gone is a lost host. */
static bool check(const struct device_group *group, ncclResult_t status, const char *what,
                  struct error *err)
{
    if (nccl_check(group->api, status, what, err))
        return true;
    if (nccl_spans(group) && (status == ncclRemoteError || status == ncclSystemError))
        err->kind = ERROR_LOST;
    return false;
}

bool nccl_intact(struct device_group *group, struct error *err)
{
    if (!atomic_load_explicit(&group->broken, memory_order_acquire))
        return true;
    *err = group->reason;
    return false;
}

/* With the lock held. */
static void break_off(struct device_group *group, const struct error *reason)
{
    if (atomic_load(&group->broken))
        return;
    group->reason = *reason;
    atomic_store_explicit(&group->broken, true, memory_order_release);
    pthread_cond_broadcast(&group->changed);
}

void nccl_break(struct device_group *group, const struct error *reason)
{
    pthread_mutex_lock(&group->lock);
    break_off(group, reason);
    pthread_mutex_unlock(&group->lock);
}

bool nccl_enter(struct device_group *group, int rank, const char *what, double limit_s,
                struct error *err)
{
    struct nccl_end *end = &group->ends[rank];
    pthread_mutex_lock(&group->lock);
    bool ok = nccl_intact(group, err);
    if (ok) {
        end->inside = what;
        end->since = clock_seconds();
        end->limit_s = limit_s;
    }
    pthread_mutex_unlock(&group->lock);
    atomic_fetch_add(&end->queued, 1);
    return ok;
}

bool nccl_return(struct device_group *group, int rank, const char *what, ncclResult_t status,
                 struct error *err)
{
    const bool made = what != NCCL_JOINING;
    bool ok =
        (made ? check(group, status, what, err) : nccl_check(group->api, status, what, err)) ||
        error_prefix(err, "%s: NCCL", group->request.names[rank]);
    pthread_mutex_lock(&group->lock);
    group->ends[rank].inside = NULL;
    if (!ok)
        break_off(group, err);
    pthread_cond_broadcast(&group->changed);
    /* What an aborted call says about itself is not why it was aborted. */
    ok = nccl_intact(group, err) && ok;
    pthread_mutex_unlock(&group->lock);
    return ok;
}

void nccl_gone(struct device_group *group, int rank, bool broken)
{
    struct nccl_end *end = &group->ends[rank];
    struct timespec deadline = deadline_after(part_s(group));
    struct error reason = ERROR_INIT;
    error_set(&reason, ERROR_FAILED, "%s: NCCL: the run has failed", group->request.names[rank]);
    pthread_mutex_lock(&group->lock);
    if (broken)
        break_off(group, &reason);
    bool first = !end->left;
    group->left += first;
    end->left = true;
    pthread_cond_broadcast(&group->changed);
    /* What waits on the GPU is over once the communicator is aborted. */
    while (first && atomic_load(&group->broken) && !group->ended &&
           pthread_cond_timedwait(&group->changed, &group->lock, &deadline) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&group->lock);
}

/* Those whose hosts have asked for less than `rank`. */
static void blame(const struct device_group *group, int rank, struct error *reason)
{
    struct text late = TEXT_INIT;
    const struct nccl_end *end = &group->ends[rank];
    long mine = atomic_load(&end->queued);
    for (int i = 0; i < group->request.count; i++)
        if (atomic_load(&group->ends[i].queued) < mine)
            text_printf(&late, "%s%s", late.length ? ", " : "", group->request.names[i]);
    nccl_blame(group, rank, &late, end->limit_s, end->inside, reason);
    text_free(&late);
}

/* With the lock held: a reason to end it all? */
static void look(struct device_group *group)
{
    const struct collective_request *request = &group->request;
    struct error reason = ERROR_INIT;
    if (request->called_off(request->context)) {
        error_set(&reason, ERROR_CANCELLED, "reductions by NCCL were called off");
        break_off(group, &reason);
    }
    for (int i = 0; i < request->count && !atomic_load(&group->broken); i++) {
        const struct nccl_end *end = &group->ends[i];
        ncclResult_t state = ncclSuccess;
        if (end->inside) {
            if (end->limit_s <= 0 || clock_seconds() - end->since <= end->limit_s)
                continue;
            blame(group, i, &reason);
            break_off(group, &reason);
        } else if (end->comm) {
            ncclResult_t status = group->api->CommGetAsyncError(end->comm, &state);
            status = status == ncclSuccess ? state : status;
            if (!check(group, status, NCCL_JOINING, &reason)) {
                error_prefix(&reason, "%s: NCCL", request->names[i]);
                break_off(group, &reason);
            }
        }
    }
}

static void wait_a_moment(struct device_group *group)
{
    struct timespec deadline = deadline_after(LOOK_S);
    pthread_cond_timedwait(&group->changed, &group->lock, &deadline);
}

static ncclComm_t communicator(const struct device_group *group, int rank)
{
    return __atomic_load_n(&group->ends[rank].comm, __ATOMIC_ACQUIRE);
}

static bool is_inside(const struct nccl_end *end)
{
    return end->inside && end->inside != NCCL_JOINING;
}

/* With the lock held: the next communicator to abort, one whose thread is inside a call before
 * others; -1: there is none. *left: how many there are. */
static int next_to_abort(const struct device_group *group, int *left)
{
    int next = -1;
    *left = 0;
    for (int i = 0; i < group->request.count; i++) {
        if (group->ends[i].aborted || !communicator(group, i))
            continue;
        if (next < 0 || (group->ends[i].inside && !group->ends[next].inside))
            next = i;
        ++*left;
    }
    return next;
}

static bool somebody_inside(const struct device_group *group, bool joining)
{
    for (int i = 0; i < group->request.count; i++)
        if (is_inside(&group->ends[i]) || (joining && group->ends[i].inside))
            return true;
    return false;
}

/* With the lock held: set all flags but the last; then, unless a thread stays inside, free all.
 * While the ranks connect for the first time nothing is shared yet. */
static void abort_all(struct device_group *group)
{
    double began = clock_seconds();
    int left, next = next_to_abort(group, &left);
    while (next >= 0 || somebody_inside(group, true)) {
        if (next < 0 || (left == 1 && somebody_inside(group, false))) {
            if (clock_seconds() - began > part_s(group))
                return;
            wait_a_moment(group);
        } else {
            ncclComm_t comm = communicator(group, next);
            group->ends[next].aborted = true;
            pthread_mutex_unlock(&group->lock);
            group->api->CommAbort(comm);
            pthread_mutex_lock(&group->lock);
        }
        next = next_to_abort(group, &left);
    }
}

/* Nobody uses the group any more. */
static void destroy_all(struct device_group *group)
{
    for (int i = 0; i < group->request.count; i++)
        if (group->ends[i].comm)
            group->api->CommDestroy(group->ends[i].comm);
}

static void release(struct device_group *group)
{
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->marks_lock);
    pthread_mutex_destroy(&group->lock);
    free(group);
}

static void *guard_main(void *context)
{
    struct device_group *group = context;
    pthread_mutex_lock(&group->lock);
    while (!atomic_load(&group->broken) && group->left < group->request.count) {
        look(group);
        if (!atomic_load(&group->broken))
            wait_a_moment(group);
    }
    if (atomic_load(&group->broken)) {
        abort_all(group);
    } else {
        pthread_mutex_unlock(&group->lock);
        destroy_all(group);
        pthread_mutex_lock(&group->lock);
    }
    group->ended = true;
    bool given_up = group->given_up;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
    if (given_up)
        release(group);
    return NULL;
}

static bool start_thread(struct device_group *group, struct error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&group->thread, NULL, guard_main, group);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0) {
        pthread_setname_np(group->thread, "nccl-guard");
        return true;
    }
    errno = status;
    return error_errno(err, "NCCL's watchdog: cannot start its thread (limits: ulimit -u)");
}

bool nccl_guard_start(struct device_group *group, struct error *err)
{
    int status = pthread_mutex_init(&group->lock, NULL);
    if (status == 0 && (status = pthread_mutex_init(&group->marks_lock, NULL)) != 0)
        pthread_mutex_destroy(&group->lock);
    if (status == 0 && (status = deadline_cond_init(&group->changed)) != 0) {
        pthread_mutex_destroy(&group->marks_lock);
        pthread_mutex_destroy(&group->lock);
    }
    if (status != 0) {
        errno = status;
        return error_errno(err, "cannot make the lock of NCCL's watchdog");
    }
    if (start_thread(group, err))
        return true;
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->marks_lock);
    pthread_mutex_destroy(&group->lock);
    return false;
}

void nccl_guard_end(struct device_group *group)
{
    struct timespec deadline = deadline_after(2 * part_s(group));
    pthread_t thread = group->thread;
    pthread_mutex_lock(&group->lock);
    group->left = group->request.count; /* those that never came, too */
    pthread_cond_broadcast(&group->changed);
    while (!group->ended &&
           pthread_cond_timedwait(&group->changed, &group->lock, &deadline) != ETIMEDOUT)
        continue;
    bool ended = group->ended;
    group->given_up = !ended;
    pthread_mutex_unlock(&group->lock);
    if (ended) {
        pthread_join(thread, NULL);
        release(group);
        return;
    }
    pthread_detach(thread);
    fprintf(stderr, "NCCL cannot end its communicators: a GPU or its driver hangs; their memory "
                    "stays taken until the engine is restarted (dpartui engine stop --now)\n");
}
