/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Train the form with all combinations of values of one or two settings, one run after the other.
 */

/* Have the values typed, and ask whether that many runs are wanted. */
void grid_ask(struct ui *ui);
/* Submit the run of ui->compare.grid after those that the engine has taken. */
bool grid_submit_next(struct ui *ui);
