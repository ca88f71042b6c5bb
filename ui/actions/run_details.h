/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "ui/session/ui.h"

/* Ask for the details of the run in focus. */
void run_details_ask(struct ui *ui);
/* What an event means to the details. */
void run_details_event(struct ui *ui, const char *method, const json_t *params);
/* False when the action is none of these. */
bool run_details_act(struct ui *ui, enum action action);
