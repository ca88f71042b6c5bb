/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * A web server on its own thread, on a free port of the loopback interface, that answers GET
 * from one folder, one connection at a time, and misbehaves as told. Set the rules before
 * http_server_start; read the counts at any time.
 */
struct http_server {
    const char *folder;
    bool no_ranges;       /* ignore Range and send the whole file */
    int unavailable;      /* number of requests answered with 503 first */
    int breaks;           /* number of answers broken off ... */
    int break_after;      /* ... after this many bytes of the body */
    bool stall;           /* ... and wait instead of closing */
    bool no_length;       /* leave Content-Length out */
    const char *redirect; /* answer requests below /moved/ with this address + the file's name */

    int port;
    atomic_int requests;    /* so far */
    atomic_long last_start; /* of the last answer's range; 0: all of the file */

    pthread_t thread;
    int listener;
    atomic_bool stopping;
};

void http_server_start(struct http_server *server);
void http_server_stop(struct http_server *server);
