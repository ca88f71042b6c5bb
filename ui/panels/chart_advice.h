/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What stands in place of curves where there are none: why, and what to do. `front` is the run in
 * front; NULL: there is none. */
void chart_advice(const struct ui *ui, const struct state_run *front, enum metric metric,
                  char *buffer, size_t size);
