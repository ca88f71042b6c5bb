/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_STUDY_OPTIONS_H
#define DPARTUI_STUDY_OPTIONS_H

#include "client.h"
#include "command.h"
#include "study.h"

/*
 * The study that the options of `dpartui compare` ask for; the engine is asked for the machine's
 * GPUs. Release with study_free, also after a failure.
 */
bool study_of_options(struct invocation *invocation, struct client *client, struct study *study,
                      struct error *err);

#endif
