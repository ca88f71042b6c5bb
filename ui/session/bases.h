/* SPDX-License-Identifier: MIT */
#pragma once

struct ui;

/*
 * Write into each run what its speed-up is against: the run that the compare view would take for
 * it, on the fewest devices among those that are alike. Nothing happens unless runs have changed.
 */
void bases_refresh(struct ui *ui);
