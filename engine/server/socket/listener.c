/* SPDX-License-Identifier: MIT */
#include "engine/server/socket/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/paths.h"
#include "system/local_socket.h"

static bool answers(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* EAGAIN: its queue of connections is full, so it does live. */
    bool yes = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
                           errno == EAGAIN);
    if (fd >= 0)
        close(fd);
    return yes;
}

/*
 * The process number, for those who meet an engine that does not answer. Where it
 * cannot be written the file is empty, and they do without it.
 */
static void say_who(int lock_fd)
{
    char line[24];
    int length = snprintf(line, sizeof line, "%ld\n", (long)getpid());
    if (ftruncate(lock_fd, 0) != 0 || pwrite(lock_fd, line, (size_t)length, 0) != length)
        (void)!ftruncate(lock_fd, 0);
}

static bool take_lock(struct listener *listener, double seconds, struct error *err)
{
    char *directory = paths_runtime_dir(err);
    if (!directory)
        return false;
    char *path = path_join(directory, "engine.lock");
    free(directory);
    if (!path)
        return error_memory(err, "lock file");
    listener->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = listener->lock_fd >= 0;
    if (!ok)
        error_errno(err, "%s: cannot open the engine's lock", path);
    double deadline = clock_seconds() + seconds;
    while (ok && flock(listener->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            ok = error_errno(err, "%s: cannot lock", path);
        else if (answers(&listener->address))
            ok = error_set(err, ERROR_USAGE, "another engine of yours is running already");
        else if (clock_seconds() > deadline)
            ok = error_set(err, ERROR_FAILED,
                           "%s: held by an engine that does not answer; end that process", path);
        else
            nanosleep(&(struct timespec){.tv_nsec = 20000000L}, NULL);
    }
    free(path);
    if (ok)
        say_who(listener->lock_fd);
    return ok;
}

/* Does the path lead to the socket we bound? */
static bool is_ours(const struct listener *listener)
{
    struct stat info;
    return stat(listener->address.sun_path, &info) == 0 && info.st_dev == listener->device &&
           info.st_ino == listener->inode;
}

static bool remember(struct listener *listener)
{
    struct stat info;
    if (stat(listener->address.sun_path, &info) != 0)
        return false;
    listener->device = info.st_dev;
    listener->inode = info.st_ino;
    return true;
}

bool listener_is_found(const struct listener *listener)
{
    struct error ignored = ERROR_INIT;
    struct sockaddr_un address;
    if (!local_socket_address(&address, &ignored))
        return true; /* there is no better place */
    return listener->fd >= 0 && strcmp(address.sun_path, listener->address.sun_path) == 0 &&
           is_ours(listener);
}

bool listener_open(struct listener *listener, struct engine_log *log, double seconds,
                   const struct listener_permit *permit, struct error *err)
{
    *listener = (struct listener)LISTENER_INIT;
    listener->log = log;
    if (!local_socket_address(&listener->address, err) || !take_lock(listener, seconds, err) ||
        (permit && !permit->may(permit->context, listener->address.sun_path, err))) {
        listener_release(listener);
        return false;
    }
    const char *path = listener->address.sun_path;
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* We hold the lock: a socket that lies there is a dead engine's. */
    if (unlink(path) != 0 && errno != ENOENT)
        error_errno(err, "%s: cannot remove what a dead engine left", path);
    else if (listener->fd < 0)
        error_errno(err, "cannot make a socket");
    /* The directory is private already (paths_runtime_dir); the mode is a second door. */
    else if (bind(listener->fd, (struct sockaddr *)&listener->address, sizeof listener->address))
        error_errno(err, "%s: cannot bind the engine's socket", path);
    else if (chmod(path, 0600) != 0 || !remember(listener) || listen(listener->fd, 64) != 0)
        error_errno(err, "%s: cannot listen", path);
    else
        return true;
    listener_close(listener);
    listener_release(listener);
    return false;
}

int listener_accept(struct listener *listener)
{
    struct error err = ERROR_INIT;
    int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 || local_socket_check_peer(fd, &err))
        return fd;
    engine_log(listener->log, MESSAGE_WARNING, 0, "a connection was refused: %s", err.text);
    close(fd);
    errno = ECONNABORTED;
    return -1;
}

void listener_close(struct listener *listener)
{
    if (listener->fd < 0)
        return;
    close(listener->fd);
    listener->fd = -1;
    if (is_ours(listener))
        unlink(listener->address.sun_path);
}

void listener_release(struct listener *listener)
{
    if (listener->lock_fd >= 0)
        close(listener->lock_fd);
    listener->lock_fd = -1;
}
