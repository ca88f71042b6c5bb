/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_ACTIONS_RESUME_H
#define DPARTUI_UI_ACTIONS_RESUME_H

#include "ui/session/ui.h"

/* Have typed to how many epochs the selected run, which has ended, is resumed. */
void resume_ask(struct ui *ui);

#endif
