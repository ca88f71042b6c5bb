/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "engine/train/pipeline/pipeline.h"

/* When the stages did what, of several pipelines those of the first, in the last full step; between
 * tasks. */

/* A new "timeline" event without its place in the run: of each stage the moments when its passes
 * began and ended, in microseconds from the step's begin, and what pipeline_predict expects of
 * passes that take as long. NULL: memory ran out, with *err, or there has been no such step. */
json_t *timeline_json(const struct pipeline *pipeline, struct error *err);
