/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

bool log_act(struct ui *ui, enum action action);
/* Ask for the messages. */
void log_opened(struct ui *ui);
