/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do in the dashboard's chart: choose a metric, read values, zoom. */
bool chart_can(const struct ui *ui, enum action action);
/* False when the action is none of the chart's. */
bool chart_act(struct ui *ui, enum action action);
/* Say why an action of the chart cannot be done now; false when it is none. */
bool chart_say_why_not(struct ui *ui, enum action action);
/* A message may have brought points or another run. */
void chart_follow(struct ui *ui);
