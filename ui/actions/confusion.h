/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* The page that shows what a network takes for what (ui/views/confusion.c). */
bool confusion_can(const struct ui *ui, enum action action);
bool confusion_act(struct ui *ui, enum action action);
/* Ask the engine for what the page shows, unless it is here. */
void confusion_opened(struct ui *ui);
/* How far the engine is, and its answer; `result` NULL: why there is none. */
void confusion_progress(struct ui *ui, const json_t *params);
void confusion_answered(struct ui *ui, const json_t *result, const struct error *failure);
