/* SPDX-License-Identifier: MIT */
#include "client/peer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "system/process.h"

pid_t peer_of_socket(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

pid_t peer_of_lock(void)
{
    struct error ignored = ERROR_INIT;
    char *directory = paths_runtime_dir(&ignored);
    char *path = directory ? path_join(directory, "engine.lock") : NULL;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    char text[24] = "";
    free(path);
    free(directory);
    if (fd < 0)
        return 0;
    /* What an engine that is gone left in the file says nothing. */
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    ssize_t length = held ? read(fd, text, sizeof text - 1) : 0;
    close(fd);
    long pid = length > 0 ? strtol(text, NULL, 10) : 0;
    return pid > 1 ? (pid_t)pid : 0;
}

bool peer_is_stopped(pid_t pid)
{
    char state = process_state(pid);
    return state == 'T' || state == 't';
}

bool peer_error(struct error *err, pid_t pid, double seconds)
{
    long number = (long)pid;
    if (seconds <= 0 && !peer_is_stopped(pid))
        return error_set(err, ERROR_SILENT,
                         "the engine has no place for another connection: try again in a moment");
    if (pid <= 0)
        return error_set(err, ERROR_SILENT,
                         "the engine does not answer within %g s: see 'dpartui engine status'",
                         seconds);
    switch (process_state(pid)) {
    case 'T':
        return error_set(err, ERROR_SILENT,
                         "the engine (pid %ld) is stopped by a signal: 'kill -CONT %ld' continues "
                         "it, 'dpartui engine stop --now' ends it",
                         number, number);
    case 't':
        return error_set(err, ERROR_SILENT,
                         "the engine (pid %ld) is stopped by a debugger: continue it there",
                         number);
    default:
        return error_set(err, ERROR_SILENT,
                         "the engine (pid %ld) does not answer within %g s: try again, or end it "
                         "with 'kill -KILL %ld' and resume its run with 'dpartui train --resume'",
                         number, seconds, number);
    }
}
