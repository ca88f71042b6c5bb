/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_DASHBOARD_H
#define DPARTUI_UI_VIEWS_DASHBOARD_H

#include "ui/views/views.h"

/* How the dashboard's parts lie on a screen of this size now. */
struct layout dashboard_layout(const struct ui *ui, int rows, int columns);

#endif
