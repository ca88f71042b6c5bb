/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "ui/session/ui.h"

/*
 * Ask the engine about the form when it has changed since it was asked; its answer or (`result`
 * NULL) refusal.
 */
void form_want_check(struct ui *ui);
/* Now and then let it be asked again about a problem, which may be over without a change of the
 * form: a file was missing or wrong. */
void form_check_problem(struct ui *ui);
void form_checked(struct ui *ui, const json_t *result, const struct error *failure);
