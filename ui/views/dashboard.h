/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/views.h"

/* How the dashboard's parts lie on a screen of this size now. */
struct layout dashboard_layout(const struct ui *ui, int rows, int columns);
