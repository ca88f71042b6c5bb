/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Train the form on 1, 2, 4... of its devices, one run after the other. */

void sweep_ask(struct ui *ui);
/* The engine took a run of the sweep, or did not. */
void sweep_taken(struct ui *ui, long run);
void sweep_refused(struct ui *ui);
/* Ask whether a waiting run of a sweep, or all of them, leave the queue; false: it is not one of a
 * sweep. */
bool sweep_ask_drop(struct ui *ui, long run);
