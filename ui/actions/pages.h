/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* In a page that scrolls to its line `last`. */
bool walk_page(struct ui *ui, int last, enum action action);
bool device_act(struct ui *ui, enum action action);
bool help_act(struct ui *ui, enum action action);
bool differences_act(struct ui *ui, enum action action);

/* The list of hosts, which are asked as long as it is on the screen. */
bool hosts_can(const struct ui *ui, enum action action);
bool hosts_act(struct ui *ui, enum action action);
void hosts_opened(struct ui *ui);
void hosts_left(struct ui *ui);
