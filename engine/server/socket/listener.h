/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/error.h"
#include "engine/log/log.h"

/*
 * The socket other processes of this user find the engine by. A lock file next to it, held for the
 * engine's life, leaves exactly one of several engines started together; the lock goes with the
 * process, so what a killed engine left is never in the way.
 */
struct listener {
    int fd, lock_fd; /* -1: none */
    struct engine_log *log;
    struct sockaddr_un address;
    dev_t device; /* of the socket in the file system: is it still ours? */
    ino_t inode;
};

#define LISTENER_INIT                                                                              \
    {                                                                                              \
        .fd = -1, .lock_fd = -1                                                                    \
    }

/* Whether an engine that has the lock may listen at `socket`; else *err says why not. */
struct listener_permit {
    bool (*may)(const void *context, const char *socket, struct error *err);
    const void *context;
};

/*
 * ERROR_USAGE when another engine answers already. One that holds the lock but answers no more is
 * about to end and is waited for, up to `seconds`. `permit` may be NULL.
 */
bool listener_open(struct listener *listener, struct engine_log *log, double seconds,
                   const struct listener_permit *permit, struct error *err);

/* The next connection of this user, non-blocking and close-on-exec; -1 with errno: none now. */
int listener_accept(struct listener *listener);

/*
 * Is the socket still where viewers look for it? Login managers remove the runtime directory when
 * the user's last session ends, and create it again with the next one, while a run trains.
 */
bool listener_is_found(const struct listener *listener);

/* Stop listening and take the socket away. The lock stays until listener_release. */
void listener_close(struct listener *listener);
void listener_release(struct listener *listener);
