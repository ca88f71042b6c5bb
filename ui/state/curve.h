/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/state/state.h"

/* What a run's curve is made of. False only when memory ran out. */
bool curve_read(struct state_run *run, const json_t *show, struct error *err);
/* Put a point where it belongs, unless there are `most`; one of the same epoch is replaced. */
bool curve_add_point(struct epoch_point **points, int *count, int *capacity, int most,
                     const struct epoch_point *point, struct error *err);
bool curve_add_epoch(struct state_run *run, const struct epoch_point *point, struct error *err);
bool curve_add_measure(struct state_run *run, const json_t *event, struct error *err);
bool curve_add_fine(struct state_run *run, const json_t *event, struct error *err);
bool curve_add_retune(struct state_run *run, const json_t *event, struct error *err);
void curve_move(struct state_run *to, struct state_run *from);
void curve_free(struct state_run *run);

/*
 * Somebody looks at a run's curve. True: it is not known and should be asked for; from then on it
 * counts as known, and when there are more than STATE_MAX_CURVES the one that was not looked at for
 * longest is dropped, so that a day of looking at runs does not fill the memory.
 */
bool state_use_curve(struct state *state, struct state_run *run);
