/* SPDX-License-Identifier: MIT */
#pragma once

#include "output/stream.h"
#include "runs/view.h"

/* Write a run with all that is kept of it as a JSON object, as print_json does, `depth` levels deep
 * in what stands around it. */
bool run_json_put(const struct run_view *view, int depth, struct stream *output, struct error *err);
