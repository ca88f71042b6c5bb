/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/pipeline/pipeline.h"

/*
 * Which operations are which stage's. A task of each rank, where the spec does not name the stages:
 * measure what the network's operations take there, in passes over a micro-batch.
 */
bool stage_measure(void *context, int index, struct error *err);

/* Set the stages; false: the network cannot be cut after these operations, one for each but the
 * last stage. */
bool pipeline_cut(struct pipeline *pipeline, const int *ends);
/* Set them as the spec names them, or else so that by the measured times the slowest takes as
 * little as can be. */
bool pipeline_choose(struct pipeline *pipeline, struct error *err);

/* The stages as the setting `stages` names them, the caller's to free; NULL: no memory. */
char *pipeline_stage_names(const struct pipeline *pipeline);
