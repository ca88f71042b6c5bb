/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* The epochs of the chosen runs in a CSV file, as `dpartui export` writes it. */

/* Have the name of the file typed. */
void export_ask(struct ui *ui);
/* An answer to REQUEST_EXPORT; NULL: the engine has refused, or is lost, because of `failure`. */
void export_answered(struct ui *ui, const json_t *result, const struct error *failure);
