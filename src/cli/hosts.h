/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/*
 * Have the spec go over the hosts of --hosts-file, or, where none are named, those of the Slurm
 * allocation of several hosts that the command runs in, started by its srun.
 */
bool hosts_take(struct invocation *invocation, struct error *err);
/* Is this a command within a Slurm allocation of several hosts? */
bool hosts_are_allocated(void);
/* For a run over hosts that is resumed, which hosts_take leaves alone. */
bool hosts_take_job(struct invocation *invocation, struct error *err);
