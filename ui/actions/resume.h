/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Have typed to how many epochs the selected run, which has ended, is resumed. */
void resume_ask(struct ui *ui);
