/* SPDX-License-Identifier: MIT */
#include "engine/server/keeper/barrier.h"

#include <errno.h>

#include "base/deadline.h"

bool barrier_init(struct barrier *barrier, struct error *err)
{
    *barrier = (struct barrier){.asked = 0};
    errno = deadline_cond_init(&barrier->changed);
    return errno == 0 || error_errno(err, "cannot prepare to wait for the run store");
}

void barrier_free(struct barrier *barrier)
{
    pthread_cond_destroy(&barrier->changed);
}

bool barrier_pending(const struct barrier *barrier)
{
    return barrier->asked > barrier->met;
}

bool barrier_wait(struct barrier *barrier, pthread_mutex_t *lock, double seconds, struct error *err)
{
    struct timespec deadline = deadline_after(seconds);
    uint64_t mine = barrier->failure.kind == ERROR_NONE ? ++barrier->asked : 0;
    while (mine > barrier->met && barrier->failure.kind == ERROR_NONE)
        if (pthread_cond_timedwait(&barrier->changed, lock, &deadline) == ETIMEDOUT &&
            mine > barrier->met && barrier->failure.kind == ERROR_NONE)
            error_set(&barrier->failure, ERROR_FAILED, "it has not answered for %g s", seconds);
    if (barrier->failure.kind == ERROR_NONE)
        return true;
    *err = barrier->failure;
    return false;
}

void barrier_answer(struct barrier *barrier, uint64_t asked, const struct error *failure)
{
    barrier->met = asked;
    barrier->failure = *failure;
    pthread_cond_broadcast(&barrier->changed);
}
