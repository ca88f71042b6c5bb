/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do in the dashboard's lists and form. */
bool dashboard_can(const struct ui *ui, enum action action);
bool dashboard_act(struct ui *ui, enum action action);
/* The cursor into a line of the panel in focus. */
void dashboard_pick(struct ui *ui, int line);
