/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/form/devices.h"
#include "ui/views/views.h"

/* The devices that can be chosen and the one in focus among them; -1: there is none. */
int device_view_focused(const struct ui *ui, struct form_device *devices, int *count);
/* How many lines the details of a device have. */
int device_view_lines(const struct ui *ui, const struct form_device *focused);
