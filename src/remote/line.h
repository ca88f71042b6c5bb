/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "remote/host.h"

/*
 * A line to the engine of another host: an ssh as a child, which runs `dpartui engine dial` over
 * there and has one end of a socket pair as standard input and output.
 */
struct line {
    pid_t pid;
    int fd;     /* the other end, whose reads and writes never wait */
    int errors; /* what ssh and the command over there say, non-blocking; -1: that went to stderr */
    bool alone; /* ssh has a session of its own, without a terminal */
    bool heard; /* the caller's: the engine has answered */
    char host[REMOTE_NAME_SIZE];
    char said[400]; /* the last line of `errors` */
    size_t length;  /* of the one being read */
    char saying[400];
    char why[480]; /* it went down, as far as that is known: of LINE_DOWN */
};

enum line_use {
    LINE_TO_COMMAND, /* it asks on the terminal, its errors go to stderr */
    LINE_TO_SCREEN,  /* it asks on the terminal, its errors are kept: a screen follows */
    LINE_UNDER_SCREEN,
};

/*
 * Start it; that the host is reached shows when the engine answers. `running`: do not start an
 * engine over there. Release with line_close.
 */
bool line_open(struct line *line, const struct remote *remote, enum line_use use, bool running,
               struct error *err);
/* End it: ssh has so many seconds to send what it has and to leave, then it is killed. */
void line_close(struct line *line, double seconds);

/* Take what was said meanwhile; `echo`: write its lines to stderr, too. */
void line_listen(struct line *line, bool echo);

/* Once the line has ended, by its end of file. */
enum line_end {
    LINE_DOWN,      /* ssh did not reach the host, or lost it */
    LINE_NO_ENGINE, /* none runs there, and none was to be started; or it cannot be */
    LINE_HUNG_UP,   /* the engine closed the connection */
    LINE_NO_PROGRAM /* no dpartui over there, or one that is too old */
};
/* How it has ended, in *err as well (ERROR_ABSENT: LINE_NO_ENGINE). */
enum line_end line_ended(struct line *line, struct error *err);
