/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_ACTIONS_PAGES_H
#define DPARTUI_UI_ACTIONS_PAGES_H

#include "ui/session/ui.h"

bool device_act(struct ui *ui, enum action action);
bool help_act(struct ui *ui, enum action action);

#endif
