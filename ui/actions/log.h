/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_ACTIONS_LOG_H
#define DPARTUI_UI_ACTIONS_LOG_H

#include "ui/session/ui.h"

bool log_act(struct ui *ui, enum action action);
/* Ask for the messages. */
void log_opened(struct ui *ui);

#endif
