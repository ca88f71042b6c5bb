/* SPDX-License-Identifier: MIT */
#pragma once

/* What a device of a run is doing, as viewers see it. */
enum activity {
    ACTIVITY_PREPARE,
    ACTIVITY_TRAIN,
    ACTIVITY_EVAL,
    ACTIVITY_WAIT,
    ACTIVITY_IDLE,
    ACTIVITY_FAILED,
};

/* "prepare", "train", "eval", "wait", "idle", "failed" */
const char *activity_name(enum activity activity);
/* Back from that; ACTIVITY_IDLE: it is none of them. */
enum activity activity_find(const char *name);
