/* SPDX-License-Identifier: MIT */
#include "engine/server/history/flush.h"

#include <errno.h>

#include "base/deadline.h"

bool flush_init(struct flush *flush, struct error *err)
{
    *flush = (struct flush){.asked = 0};
    errno = deadline_cond_init(&flush->changed);
    return errno == 0 || error_errno(err, "cannot prepare to wait for the run store");
}

void flush_free(struct flush *flush)
{
    pthread_cond_destroy(&flush->changed);
}

bool flush_pending(const struct flush *flush)
{
    return flush->asked > flush->met;
}

bool flush_wait(struct flush *flush, pthread_mutex_t *lock, double seconds, struct error *err)
{
    struct timespec deadline = deadline_after(seconds);
    uint64_t mine = flush->failure.kind == ERROR_NONE ? ++flush->asked : 0;
    while (mine > flush->met && flush->failure.kind == ERROR_NONE)
        if (pthread_cond_timedwait(&flush->changed, lock, &deadline) == ETIMEDOUT &&
            mine > flush->met && flush->failure.kind == ERROR_NONE)
            error_set(&flush->failure, ERROR_FAILED, "it has not answered for %g s", seconds);
    if (flush->failure.kind == ERROR_NONE)
        return true;
    *err = flush->failure;
    return false;
}

void flush_answer(struct flush *flush, uint64_t asked, const struct error *failure)
{
    flush->met = asked;
    flush->failure = *failure;
    pthread_cond_broadcast(&flush->changed);
}
