/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/form/devices.h"
#include "ui/panels/panel.h"

/* The devices side by side, in `columns` columns and `lines` lines below a
 * heading. */
void device_cells(const struct ui *ui, struct surface *surface, struct rect area,
                  const struct form_device *devices, int count, int columns, int lines);
