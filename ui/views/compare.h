/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_COMPARE_H
#define DPARTUI_UI_VIEWS_COMPARE_H

#include "ui/views/views.h"

extern const struct view view_compare;

#endif
