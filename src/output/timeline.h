/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "events/timeline.h"

/* A step of a pipeline, as a picture of what its stages do at the same time (a Gantt chart). */

/* On standard output: a line for each stage. */
void timeline_print(const struct timeline *timeline);

/* As SVG: a box for each pass. The caller looks at out->failed. `title` as of a file. */
void timeline_svg(const struct timeline *timeline, const char *title, struct text *out);
