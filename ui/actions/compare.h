/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

bool compare_can(const struct ui *ui, enum action action);
bool compare_act(struct ui *ui, enum action action);
void compare_pick(struct ui *ui, int line);
/* Choose the anchor: a marked run, else the selected one. */
void compare_opened(struct ui *ui);
