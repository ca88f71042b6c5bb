/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "ui/session/ui.h"

/* What becomes of the connection to the engine, and what its messages do. */

/* The connection came up: greet, watch and ask for the runs. */
void ui_connected(struct ui *ui);
/* It went away (LOST), or no engine could be started (NO_ENGINE). */
void ui_disconnected(struct ui *ui, enum link_state link, const char *advice);
/* The line to another host is down since a date; tried again in so many seconds, 0: now. To be
 * called for each of them: it is in the log only once. */
void ui_line_down(struct ui *ui, double since, int seconds, const char *why);
/* The engine is connected and has said nothing for too long; the next message ends that. */
void ui_silence(struct ui *ui);
/* A notification of the engine. */
void ui_notification(struct ui *ui, const json_t *message);
/* The answer to a request: its result, or NULL and why. */
void ui_answer(struct ui *ui, enum request request, const json_t *result,
               const struct error *failure);
