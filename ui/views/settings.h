/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_SETTINGS_H
#define DPARTUI_UI_VIEWS_SETTINGS_H

#include "ui/views/views.h"

extern const struct view view_settings;

#endif
