/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do on the settings page. */
bool settings_can(const struct ui *ui, enum action action);
bool settings_act(struct ui *ui, enum action action);
void settings_opened(struct ui *ui);
void settings_left(struct ui *ui);

/* Leave the workbench, but first ask when settings are not saved; asked twice it just leaves. */
void ui_leave(struct ui *ui);
