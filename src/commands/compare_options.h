/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_COMMANDS_COMPARE_OPTIONS_H
#define DPARTUI_COMMANDS_COMPARE_OPTIONS_H

#include "cli/command.h"
#include "client/client.h"
#include "experiment/study.h"

/*
 * The study that the options of `dpartui compare` ask for; the engine is asked for the machine's
 * GPUs. Release with study_free, also after a failure.
 */
bool study_of_options(struct invocation *invocation, struct client *client, struct study *study,
                      struct error *err);

#endif
