/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The dashboard's list of devices. */
draw_part panel_devices;
