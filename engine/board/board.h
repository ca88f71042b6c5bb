/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/*
 * A run for TensorBoard: its events become the scalars train/loss, train/accuracy, test/loss,
 * test/accuracy, learning_rate and samples_per_s over the steps, and validation/loss,
 * validation/accuracy and gradient_norm where events have them, in an event file in DIR/run-N.
 * Steps are summed up so that a run has about a thousand points.
 */
struct board;

/*
 * The folder of run N is made, its parents too; where an earlier run of that number has left one,
 * DIR/run-N.2 and so on, unless this run `resumes` it. `wall_time` as below.
 */
bool board_open(struct board **out, const char *directory, long run, bool resumes, double wall_time,
                struct error *err);

/* The settings of the run, an object, for the page of hyperparameters: words, numbers and truth
 * values; others are left out. */
void board_put_settings(struct board *board, const json_t *settings, double wall_time);

/*
 * Take an event of docs/protocol.md: "run", "step" or "point", "epoch", "end"; others are ignored.
 * It happened at `wall_time`, in seconds since 1970. "epoch" and "end" write all that has been
 * gathered. False, once: the file ends here, for the reason in *err; later events are ignored.
 */
bool board_take(struct board *board, const json_t *event, double wall_time, struct error *err);

/* Write the rest; false as above. NULL is fine. */
bool board_close(struct board *board, struct error *err);
