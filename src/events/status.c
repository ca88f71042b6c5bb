/* SPDX-License-Identifier: MIT */
#include "events/status.h"

#include <string.h>

const char *run_status_name(enum run_status status)
{
    static const char *const names[] = {
        [RUN_UNKNOWN] = "-",           [RUN_QUEUED] = "queued", [RUN_RUNNING] = "running",
        [RUN_PAUSED] = "paused",       [RUN_DONE] = "done",     [RUN_STOPPED] = "stopped",
        [RUN_CANCELLED] = "cancelled", [RUN_FAILED] = "failed", [RUN_INTERRUPTED] = "interrupted",
        [RUN_LOST] = "lost?",
    };
    return names[status];
}

enum run_status run_status_find(const char *name)
{
    for (enum run_status i = RUN_QUEUED; name && i < RUN_LOST; i++)
        if (strcmp(name, run_status_name(i)) == 0)
            return i;
    return RUN_UNKNOWN;
}

bool run_status_is_live(enum run_status status)
{
    return status == RUN_QUEUED || status == RUN_RUNNING || status == RUN_PAUSED;
}
