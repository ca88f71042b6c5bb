/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Deleting the chosen runs, after one question. */

/* Has one of them ended? */
bool delete_can(const struct ui *ui);
/* Ask, and ask the engine what their checkpoints take. */
void delete_ask(struct ui *ui);
/* Its answer, which the question then tells. */
void delete_measured(struct ui *ui, const json_t *result);
/* The engine has answered one of the requests; NULL: the run is deleted. After the last the message
 * says what became of all, and the list, which may be long, is asked for once. */
void delete_answered(struct ui *ui, const struct error *failure);
