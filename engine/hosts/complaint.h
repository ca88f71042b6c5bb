/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "spec/hosts.h"

/* What a launcher, and the processes that it has started, write to standard error: why it ended. */
struct complaint {
    char text[512];  /* of that which tells most; "": there is nothing */
    char peer[512];  /* a host that a process has lost, which then was ended, too; "": none */
    char crash[512]; /* the first that reports a segmentation fault; "": none */
    int weight;
    bool begins, continues; /* the next line is a paragraph's first, or belongs to the text */
};

void complaint_take(struct complaint *complaint, const struct host_list *hosts, const char *line);

/* Is it known whose fault it was? */
bool complaint_names_host(const struct complaint *complaint);

/* Sets *err, of this kind, where there is anything; returns false. A host that was lost is always
 * ERROR_LOST. */
bool complaint_say(const struct complaint *complaint, enum error_kind kind, struct error *err);

/* *err of a host that has not been heard from for so long; returns false. */
bool host_is_silent(const char *name, int rank, double seconds, struct error *err);
