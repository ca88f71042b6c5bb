/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "ui/session/settings_source.h"

/* The settings as the settings page lists them. */

struct ui;

/* The setting in `line`; false after the last. */
bool settings_look(const struct ui *ui, int line, struct setting *setting);
int settings_count(const struct ui *ui);
/* Does it belong to the group `screen`? */
bool settings_of_screen(const struct setting *setting);
