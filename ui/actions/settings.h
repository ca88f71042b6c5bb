/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do on the settings page. */
bool settings_can(const struct ui *ui, enum action action);
bool settings_act(struct ui *ui, enum action action);
/* Change or reset one from another page: as here, it acts at once and is saved by a key. `value`
 * NULL: to the value that it has without what was saved. */
bool settings_change(struct ui *ui, const char *member, const char *value);
bool settings_save(struct ui *ui);
/* Is there something to save, and a way to save it? */
bool settings_can_save(const struct ui *ui);
/* What was changed elsewhere, such as how load is shown, is a setting like those changed here. */
void settings_opened(struct ui *ui);
void settings_left(struct ui *ui);

/* Leave the workbench, but first ask when settings are not saved; asked twice it just leaves. */
void ui_leave(struct ui *ui);
