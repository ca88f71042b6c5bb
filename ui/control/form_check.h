/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "ui/session/ui.h"

/*
 * Ask the engine about the form when it has changed since it was asked; its answer or (`result`
 * NULL) refusal.
 */
void form_want_check(struct ui *ui);
void form_checked(struct ui *ui, const json_t *result, const struct error *failure);
