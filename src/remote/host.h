/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Which machine is meant, and the words of the ssh that reaches it. Pure. */
struct remote {
    const char *host; /* as ssh takes it, "user@gpu1"; NULL: this machine. Borrowed */
    const char *ssh;  /* the command, words with blanks between; NULL: "ssh". Borrowed */
};

/* What a use of ssh may do with the terminal. */
enum remote_terminal {
    REMOTE_ASKS,    /* for passwords and host keys */
    REMOTE_SILENT,  /* nothing: what would have to be asked for fails */
    REMOTE_THROUGH, /* the command over there runs on a terminal of its own, shown on this one */
};

/* No name that ssh or a shell would take for something else. ERROR_USAGE. */
bool remote_check(const char *host, struct error *err);

/* "gpu1" of "user@gpu1" and of "ssh://user@gpu1:2222", for screens and messages. */
#define REMOTE_NAME_SIZE 64
const char *remote_name(const char *host, char name[REMOTE_NAME_SIZE]);

/*
 * The argument list that runs `command`, words that end with NULL, on the host: a new array that
 * ends with NULL and that remote_arguments_free frees. The shell over there gets them quoted.
 */
char **remote_arguments(const struct remote *remote, enum remote_terminal terminal,
                        const char *const *command, struct error *err);
void remote_arguments_free(char **arguments);

/* Seconds before the next attempt to reach a host, after a pause of `before` (0: none yet). */
#define REMOTE_PAUSE_MOST 30.0
double remote_pause(double before);
