/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Have the tags of the selected run typed. */
void tags_ask(struct ui *ui);
