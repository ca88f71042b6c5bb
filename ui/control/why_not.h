/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/session/ui.h"

/* Why a key does nothing now. */

/* Why an action on runs cannot be done; false when there is nothing to say. */
bool runs_say_why_not(struct ui *ui, enum action action);
/* The same for all other actions; coming back from where one is needs no word. */
void say_nothing_to_do(struct ui *ui, enum action action);
/* That a key has no meaning here, and where those are that have. */
void say_unbound(struct ui *ui, int key);
