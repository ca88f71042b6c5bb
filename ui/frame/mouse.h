/* SPDX-License-Identifier: MIT */
#pragma once

struct ui;

enum mouse_event { MOUSE_CLICK, MOUSE_DOUBLE, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

/*
 * What the mouse does at a cell of a screen of that size: a click puts focus and cursor there, or
 * does what the key bar says there, or sorts the list of runs by the title there; the second click
 * of two is Enter; the wheel walks through lists and zooms the chart.
 */
void ui_mouse(struct ui *ui, int rows, int columns, int y, int x, enum mouse_event event);
