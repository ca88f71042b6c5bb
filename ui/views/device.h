/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_DEVICE_H
#define DPARTUI_UI_VIEWS_DEVICE_H

#include "ui/form/devices.h"
#include "ui/views/views.h"

/* The devices that can be chosen and the one in focus among them; -1: there is none. */
int device_view_focused(const struct ui *ui, struct form_device *devices, int *count);
/* How many lines the details of a device have. */
int device_view_lines(const struct ui *ui, const struct form_device *focused);

#endif
