/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Another process, by proc(5). */

/* Its state, such as 'S' or 'T'; 0: there is none of that number. */
char process_state(pid_t pid);

/* Has it ended, or is the kernel clearing it away? */
bool process_has_ended(pid_t pid);
