/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* What keys do on the page of the columns that the list of runs has. */
bool columns_can(const struct ui *ui, enum action action);
bool columns_act(struct ui *ui, enum action action);
