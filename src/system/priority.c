/* SPDX-License-Identifier: MIT */
#include "system/priority.h"

#include <sys/resource.h>
#include <unistd.h>

/* nice(1): ten steps of about 1.25 each. */
enum { LOWER = 10 };

void priority_lower(void)
{
    /* To Linux a thread's number is a process's. A system that refuses leaves it as it is. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), LOWER);
}
