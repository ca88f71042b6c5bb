/* SPDX-License-Identifier: MIT */
#include "commands/list.h"

const struct command *const commands[] = {
    &command_workbench, &command_train,   &command_follow,
    &command_eval,      &command_predict, &command_compare,
    &command_devices,   &command_model,   &command_runs,
    &command_show,      &command_export,  &command_stop,
    &command_check,     &command_fetch,   &command_completion,
    &command_engine,    &command_screen,  NULL,
};

_Static_assert(sizeof commands / sizeof *commands <= COMMANDS_MAX, "COMMANDS_MAX is too small");
