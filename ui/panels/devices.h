/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_PANELS_DEVICES_H
#define DPARTUI_UI_PANELS_DEVICES_H

#include "ui/panels/panel.h"

/* The dashboard's list of devices. */
draw_part panel_devices;

#endif
