/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The key bar. */
draw_part keys_draw;

/* What it shows on a screen of that width, from the left; returns how many items, at most
 * ACTION_ENTRIES. */
struct key_bar_item {
    size_t entry; /* of the table of actions */
    int x, w;
};
enum { KEY_BAR_RANKS = 4 };
int key_bar_fill(const struct ui *ui, int columns, struct key_bar_item *items);
