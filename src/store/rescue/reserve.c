/* SPDX-License-Identifier: MIT */
#include "store/rescue/reserve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

/* States of some dozen runs, with the pages of the log that they take. */
#define RESERVE_BYTES ((off_t)256 << 10)

static char *reserve_path(const char *store)
{
    return text_format("%s.reserve", store);
}

void store_reserve_make(const char *store)
{
    char *path = reserve_path(store);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd >= 0) {
        bool made = posix_fallocate(fd, 0, RESERVE_BYTES) == 0;
        close(fd);
        if (!made)
            unlink(path);
    }
    free(path);
}

bool store_reserve_release(const char *store)
{
    char *path = reserve_path(store);
    bool released = path && unlink(path) == 0;
    free(path);
    return released;
}
