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
