/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"
#include "remote/line.h"

/* A connection, shared by client.c and client/open.c alone. */
struct client {
    int fd;
    pid_t child;       /* a private engine, else 0 */
    struct line *line; /* to another host, whose `fd` is ours; NULL: the engine is on this one */
    enum line_end end; /* why that is lost */
    long last_id;
    struct text in, out;
    size_t in_taken;   /* bytes of `in` already handed out */
    size_t in_scanned; /* bytes of `in` known to hold no further newline */
    json_t *kept;      /* messages that arrived during client_call */
    size_t kept_taken;
    bool lost; /* the engine has closed the connection */
};
