/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_PANELS_FORM_H
#define DPARTUI_UI_PANELS_FORM_H

#include "ui/panels/panel.h"

/* The dashboard's form of the next run. */
draw_part panel_form;

#endif
