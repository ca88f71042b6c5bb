/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"
#include "client/client.h"
#include "experiment/study.h"
#include "study/range.h"

/*
 * The study that the options of `dpartui compare` ask for; the engine is asked for the machine's
 * GPUs. Release with study_free, also after a failure.
 */
bool study_of_options(struct invocation *invocation, struct client *client, struct study *study,
                      struct error *err);

/* What --lr-range asks for, and its run as `submit` takes it; NULL after an error. */
json_t *range_of_options(struct invocation *invocation, struct range_run *test, struct error *err);
