/* SPDX-License-Identifier: MIT */
#include "system/process.h"

#include <stdio.h>
#include <string.h>

/* Of the flags in proc(5). */
enum { EXITING = 4 };

/* 0: there is none. */
static char read_state(pid_t pid, unsigned *flags)
{
    char path[40], line[256] = "", state;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = pid > 0 ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    /* The name before it may hold brackets and spaces. */
    const char *name_end = strrchr(line, ')');
    return name_end && sscanf(name_end, ") %c %*d %*d %*d %*d %*d %u", &state, flags) == 2 ? state
                                                                                           : 0;
}

char process_state(pid_t pid)
{
    unsigned flags;
    return read_state(pid, &flags);
}

bool process_has_ended(pid_t pid)
{
    unsigned flags;
    const char state = read_state(pid, &flags);
    return state == 0 || state == 'Z' || state == 'X' || (flags & EXITING) != 0;
}
