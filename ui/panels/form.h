/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"

/* The dashboard's form of the next run. */
draw_part panel_form;
