/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/fetch/fetch.h"

struct fetch_reporter {
    fetch_report *report;
    void *context;
    double each_s, last_time;
    int64_t last_done;
    struct fetch_progress progress;
};

/* Begin a phase ("verify", ...) of `total` bytes, `done` of them there already. */
bool reporter_begin(struct fetch_reporter *reporter, const char *phase, int64_t done, int64_t total,
                    struct error *err);
/* Tell how far it is, if it is time to. False with ERROR_CANCELLED: stop. */
bool reporter_update(struct fetch_reporter *reporter, int64_t done, struct error *err);
