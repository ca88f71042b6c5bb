/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/page.h"
#include "ui/panels/panel.h"

/* Write the runs of ui->pair side by side: what they gave, and the settings in which they differ.
 */
void panel_pair(const struct ui *ui, struct page *page);
/* Its lines. */
int panel_pair_lines(const struct ui *ui);
