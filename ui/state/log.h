/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/state/state.h"

/* The result of `log`. */
bool state_log(struct state *state, const json_t *result, struct error *err);
/* A message of the workbench itself. */
bool state_log_local(struct state *state, double time, enum log_level level, const char *text,
                     struct error *err);

/* The engine's messages. False: memory ran out. */
bool log_add(struct state *state, const json_t *message, struct error *err);
void log_free(struct state *state);
