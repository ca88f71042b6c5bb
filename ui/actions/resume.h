/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Have typed to how many epochs the selected run, which has ended, is resumed. */
void resume_ask(struct ui *ui);
/* The answer of how many checkpoints it has: without any there is nothing to ask for. */
void resume_measured(struct ui *ui, const json_t *result);
