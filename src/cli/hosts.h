/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/*
 * Have the spec go over the hosts of --hosts-file, or, where none are named, those of the Slurm
 * allocation of several hosts that the command runs in, started by its srun.
 */
bool hosts_take(struct invocation *invocation, struct error *err);
