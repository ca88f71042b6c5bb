/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/* Tasks of a rank, on its own thread. `context` is the struct ranks. */

bool rank_prepare(void *context, int index, struct error *err);
/* Its parts: open the device; make a replica, of a stage or, NULL, of the whole network; give it
 * weights and the optimizer's state. */
bool rank_open(struct rank *rank, struct error *err);
bool rank_replicate(struct rank *rank, const struct net_stage *stage, struct error *err);
bool rank_load(struct rank *rank, struct error *err);
/* Give back replica and device. */
void rank_shut(struct rank *rank);
/* Sum up the gradients of its group, as a part of its step. */
bool rank_sum_gradients(struct rank *rank, struct error *err);
/* Those of its step are what the sum took. */
void rank_add_times(struct rank *rank, const struct sync_times *times);
bool rank_change_shares(void *context, int index, struct error *err); /* plans for new shares */
/* Take part in what sync_choose has chosen; why not is in rank->refusal, and no failure. */
bool rank_join(void *context, int index, struct error *err);
bool rank_leave(void *context, int index, struct error *err);  /* that, if some could not */
bool rank_import(void *context, int index, struct error *err); /* all from work->weights */
/* The parameters and their average change places, on ranks that have one. */
bool rank_swap_average(void *context, int index, struct error *err);
/* Rank 0, or each stage or slice its part, into work->weights */
bool rank_export(void *context, int index, struct error *err);
bool rank_export_state(void *context, int index, struct error *err); /* into ->exported */
/* The end of every task. The first rank that fails aborts the others; those then fail with its
 * reason, which does not count. */
void rank_conclude(void *context, int index, bool ok, struct error *err);
void rank_close(void *context, int index);

/* For tasks: rows of the step's mini-batch, after the first `before` of them. */
struct batch rank_batch(const struct rank *rank, long before, long rows);
/* What the rank does, as viewers see it. */
void rank_show(struct rank *rank, enum activity activity);
/* Train, or idle where it has no rows in this step, although it takes part in the reduction. */
void rank_show_busy(struct rank *rank);
/* Another sign of progress. */
void rank_progress(struct rank *rank);
