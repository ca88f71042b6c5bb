/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_PROTOCOL_CHANGE_H
#define DPARTUI_ENGINE_SERVER_PROTOCOL_CHANGE_H

#include "engine/server/protocol/answer.h"

/* Methods that change runs. What takes effect in a run that trains, the run itself records. */
method_function method_stop, method_set_lr, method_set_epochs, method_pause, method_unpause,
    method_move, method_delete, method_note, method_tag;

#endif
