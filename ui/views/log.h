/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/views.h"

/* Messages between the newest of `count` and the one in focus, whatever has happened to the list.
 */
int log_view_back(const struct ui *ui, int count);
