/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "engine/device/device.h"
#include "engine/log/log.h"

/*
 * Which GPUs this build's backend can train on. To ask it starts the driver, which takes from
 * hundredths of a second to many seconds and, where the driver is sick, for ever; so it is asked on
 * a separate thread, when somebody first looks, and again when somebody asks.
 */

struct gpu_survey;

struct gpu_findings {
    bool answered; /* else nothing is known yet */
    int count;
    struct device_info info[SPEC_MAX_DEVICES];
    char why[160]; /* why there are none; also before there was an answer */
};

/* `backend`: NULL: this build has none, `why` says so. Does not ask CUDA yet; answers are logged.
 */
bool gpu_survey_start(struct gpu_survey **out, const struct backend *backend, const char *why,
                      struct engine_log *log, struct error *err);

/* False: a thread still is inside the driver, and the process must end by _exit. NULL is fine. */
bool gpu_survey_stop(struct gpu_survey *survey);

/* Copy the last answer; the first reading makes the backend be asked. Never waits. */
void gpu_survey_read(struct gpu_survey *survey, struct gpu_findings *out);

/* Grows with each answer that differs from the one before. */
uint64_t gpu_survey_version(struct gpu_survey *survey);

/* Have the backend asked, once more if it was before. */
void gpu_survey_ask(struct gpu_survey *survey);
/* Wait at most `seconds` while it is being asked: is there an answer? */
bool gpu_survey_wait(struct gpu_survey *survey, double seconds);
