/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

bool device_act(struct ui *ui, enum action action);
bool help_act(struct ui *ui, enum action action);
