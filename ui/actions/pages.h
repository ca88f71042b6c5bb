/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* In a page that scrolls to its line `last`. */
bool walk_page(struct ui *ui, int last, enum action action);
bool device_act(struct ui *ui, enum action action);
bool help_act(struct ui *ui, enum action action);
