/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The learning rate of the next run, in place of the chart while its schedule is in focus in the
 * form and changes it. */
bool schedule_in_focus(const struct ui *ui);
draw_part panel_schedule;
