/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/hosts/lines.h"
#include "engine/train/run/run.h"

/* The first host's talk with the engine that has started the run. */
struct talk;

bool talk_open(struct talk **out, struct error *err);

/* The engine's first line, which says what to do: a new string. Waits for it, for a minute. */
char *talk_first_line(struct talk *talk, struct error *err);

/* Take what the engine has asked for since, and tell it every moment that this process lives.
 * False: the engine has gone. */
bool talk_serve(struct talk *talk);

/* For the run: where its events go, what is asked of it, and run_keep.sync. */
struct run_sink talk_sink(struct talk *talk);
struct run_control *talk_control(struct talk *talk);
bool talk_sync(void *talk, struct error *err);

/* The last line: how it ended; `err` is NULL where it was trained to its end. */
void talk_end(struct talk *talk, const struct error *err);
