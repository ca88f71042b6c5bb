/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

/* What has to be known of a kept event without parsing it again. */
struct event_mark {
    const char *name; /* of static storage */
    long epoch;       /* of an epoch, which may be thinned; 0: another event */
    double score;     /* of an epoch: its member_score, or NAN */
};

/* `name`: one of those that events of runs have, or "other". */
struct event_mark event_mark_of(const json_t *event);
