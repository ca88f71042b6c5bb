/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Which runs are shown side by side: both that are marked, or the only one and the selected one. */

bool differences_can(const struct ui *ui);
/* The page is shown: ask the engine for their settings. */
void differences_opened(struct ui *ui);
