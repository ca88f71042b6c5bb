/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/* The table of subcommands, each a constant in the file of its name. */
extern const struct command command_workbench, command_train, command_compare, command_devices,
    command_runs, command_show, command_export, command_stop, command_model, command_fetch,
    command_completion, command_engine, command_screen, command_eval, command_check,
    command_predict, command_follow;

/* All of them, the workbench first; ends with NULL. */
extern const struct command *const commands[];
