/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* A program as a child: ssh. */
struct process {
    int in, out, errors; /* its standard descriptors; -1: those of this process */
    bool alone; /* a session of its own: it can ask nobody, and keys of the terminal are not its */
    bool outlives_interrupts; /* Ctrl-C is for this process, which ends it when it leaves */
};

/*
 * Start `arguments[0]`, searched for in PATH. The child has default signals, no other descriptors,
 * and ends with this process, however that ends.
 */
bool process_start(const struct process *process, char *const *arguments, pid_t *child,
                   struct error *err);
/* Its status as of waitpid(2), at the latest after so many seconds, when it is killed; with `alone`
 * all that it started is, too. */
int process_wait(pid_t child, bool alone, double seconds);
/* The same where its status does not matter; no `seconds`: it is ended by a signal at once. */
void process_end(pid_t child, bool alone, double seconds);
