/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_ACTIONS_DASHBOARD_H
#define DPARTUI_UI_ACTIONS_DASHBOARD_H

#include "ui/session/ui.h"

/* What keys do in the dashboard's lists and form. */
bool dashboard_can(const struct ui *ui, enum action action);
bool dashboard_act(struct ui *ui, enum action action);
/* The cursor into a line of the panel in focus. */
void dashboard_pick(struct ui *ui, int line);

#endif
