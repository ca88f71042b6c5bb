/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "spec/hosts.h"

/*
 * The launcher that starts a process of a run on each of its hosts: Open MPI's mpirun, Slurm's
 * srun, or any command with the same effect. It runs in a session of its own, so that all of it,
 * and what it has started here, can be ended at once.
 */
struct launcher {
    pid_t pid;
    int input, output, errors; /* of the first process; what all complain of. -1: closed */
    bool ended, exited;        /* exited: by itself, with `status`; else by that signal */
    int status;
};

/*
 * The command for a shell, a new string. `template` is "mpirun", "srun", "srun:JOB" (of that Slurm
 * job), NULL (mpirun) or a command with places for what changes: %n the number of hosts, %h
 * "h1,h2", %H "h1:1,h2:1", %p the program to start, %% a %. `limit_s`: how long a host may be
 * silent.
 */
char *launcher_command(const char *template, const struct host_list *hosts, const char *program,
                       double limit_s, struct error *err);

bool launcher_start(const char *command, struct launcher *launcher, struct error *err);
/* Has it ended? At once. */
bool launcher_has_ended(struct launcher *launcher);
/* Politely, and without waiting for it. */
void launcher_ask_to_end(struct launcher *launcher);
/* End it and all that belongs to it, for so long politely, and close what is open. */
void launcher_end(struct launcher *launcher, double polite_s);
