/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* After anything changed: keep the list of runs in order, and ask the engine for what the screen
 * shows and is not here yet. */
void ui_refresh(struct ui *ui);
