/* SPDX-License-Identifier: MIT */
#include "engine/train/step/activity.h"

#include <string.h>

static const char *const names[] = {
    [ACTIVITY_PREPARE] = "prepare", [ACTIVITY_TRAIN] = "train", [ACTIVITY_EVAL] = "eval",
    [ACTIVITY_WAIT] = "wait",       [ACTIVITY_IDLE] = "idle",   [ACTIVITY_FAILED] = "failed",
};

const char *activity_name(enum activity activity)
{
    return names[activity];
}

enum activity activity_find(const char *name)
{
    for (int i = ACTIVITY_PREPARE; i <= ACTIVITY_FAILED; i++)
        if (strcmp(names[i], name) == 0)
            return (enum activity)i;
    return ACTIVITY_IDLE;
}
