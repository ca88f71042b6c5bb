/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CONTROL_REFRESH_H
#define DPARTUI_UI_CONTROL_REFRESH_H

#include "ui/session/ui.h"

/* After anything changed: keep the list of runs in order, and ask the engine for what the screen
 * shows and is not here yet. */
void ui_refresh(struct ui *ui);

#endif
