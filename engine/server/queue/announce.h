/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "engine/log/log.h"
#include "spec/spec.h"

/* What the engine's log says of runs. */

/* "resnet18 on fashion-mnist, cpu:0-1, batch 256, lr 0.1, 10 epochs": a new string or NULL. */
char *announce_describe(const struct spec *spec);

/* "run 7 is done: test acc 0.912, 13.3 s/epoch", from its "end" event: a new string or NULL. */
char *announce_end_text(long run, const json_t *event);

/* A "run", "warning", "retune", "shares" or "end" event of a run with these settings; others are no
 * news. */
void announce_event(struct engine_log *log, long run, const struct spec *spec, const json_t *event);
