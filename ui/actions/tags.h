/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_ACTIONS_TAGS_H
#define DPARTUI_UI_ACTIONS_TAGS_H

#include "ui/session/ui.h"

/* Have the tags of the selected run typed. */
void tags_ask(struct ui *ui);

#endif
