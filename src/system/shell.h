/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

/* Seconds that a command has which reports a run's end; an engine that ends may take as long. */
#define NOTIFY_SECONDS 10.0

/*
 * Start `sh -c command` in a session of its own, whose process group has the number *pid, with the
 * signals of a program that was started by hand. `fds` become its standard input, output and errors
 * and stay open here. `environment`: NULL: that of this process. 0 or an errno.
 */
int shell_start(const char *command, const int fds[3], char *const *environment, pid_t *pid);
