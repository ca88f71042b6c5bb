/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/protocol/answer.h"

/* Methods that change runs. What takes effect in a run that trains, the run itself records. */
method_function method_stop, method_set_lr, method_set_epochs, method_pause, method_unpause,
    method_move, method_delete, method_note, method_tag;

/* Cancels what is computed for the viewer. */
method_function method_cancel;
