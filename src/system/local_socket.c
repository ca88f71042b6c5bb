/* SPDX-License-Identifier: MIT */
#include "system/local_socket.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"

bool local_socket_address(struct sockaddr_un *address, struct error *err)
{
    char *directory = paths_runtime_dir(err);
    if (!directory)
        return false;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    char *path = path_join(directory, "engine.sock");
    free(directory);
    if (!path)
        return error_memory(err, "socket path");
    bool fits = strlen(path) < sizeof address->sun_path;
    if (fits)
        strcpy(address->sun_path, path);
    else
        error_set(err, ERROR_FAILED,
                  "%s: longer than the %zu bytes a socket's path may have: set XDG_RUNTIME_DIR to "
                  "a shorter directory",
                  path, sizeof address->sun_path - 1);
    free(path);
    return fits;
}

bool local_socket_check_peer(int fd, struct error *err)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return error_errno(err, "cannot tell who is at the other end of the engine's socket");
    if (peer.uid != geteuid())
        return error_set(err, ERROR_FAILED,
                         "the other end of the engine's socket belongs to user %lu, not to you",
                         (unsigned long)peer.uid);
    return true;
}
