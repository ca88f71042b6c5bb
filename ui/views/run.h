/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/views.h"

/* The first line of the details of a run when they are scrolled to their end. */
int run_view_last_line(const struct ui *ui);
