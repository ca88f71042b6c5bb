/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_PANELS_DEVICE_CELLS_H
#define DPARTUI_UI_PANELS_DEVICE_CELLS_H

#include "ui/form/devices.h"
#include "ui/panels/panel.h"

/* The devices side by side, in `columns` columns and `lines` lines below a
 * heading. */
void device_cells(const struct ui *ui, struct surface *surface, struct rect area,
                  const struct form_device *devices, int count, int columns, int lines);

#endif
