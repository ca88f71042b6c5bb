/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Starting, stopping, changing and queueing runs, from every view that shows them. */
bool runs_can(const struct ui *ui, enum action action);
/* False when the action is none of these. */
bool runs_act(struct ui *ui, enum action action);
/* Submit the form. */
void runs_start(struct ui *ui);
