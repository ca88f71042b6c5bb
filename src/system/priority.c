/* SPDX-License-Identifier: MIT */
#include "system/priority.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"

/* nice(1): ten steps of about 1.25 each. */
enum { LOWER = 10, MOST = 19 };

int priority_nice(void)
{
    /* To Linux a thread's number is a process's. */
    return getpriority(PRIO_PROCESS, (id_t)gettid());
}

/* A system that refuses leaves it as it is. */
static void lower_to(int nice)
{
    if (nice > priority_nice())
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), nice);
}

static bool parse(const char *text, long *nice, struct error *err)
{
    return parse_long(text, 0, MOST, nice) ||
           error_set(err, ERROR_USAGE, "nice '%.40s' must be a whole number from 0 to %d", text,
                     MOST);
}

bool priority_check(const char *text, struct error *err)
{
    long nice;
    return parse(text, &nice, err);
}

bool priority_apply(struct error *err)
{
    const char *text = getenv(PRIORITY_VARIABLE);
    long nice = 0;
    if (text && *text && !parse(text, &nice, err))
        return false;
    lower_to((int)nice);
    return unsetenv(PRIORITY_VARIABLE) == 0 || error_errno(err, PRIORITY_VARIABLE);
}

void priority_lower(void)
{
    lower_to(LOWER);
}
