/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Have the tags of the chosen runs typed; of several those that all of them have. */
void tags_ask(struct ui *ui);
