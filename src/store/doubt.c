/* SPDX-License-Identifier: MIT */
#include "store/doubt.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* What the mark contains; anything else counts as doubted. */
enum mark { MARK_NONE, MARK_UNCHECKED = 'u', MARK_DOUBTED = 'd' };

static char *mark_path(const char *path)
{
    return text_format("%s.check", path);
}

static void put_mark(const char *path, enum mark mark)
{
    char *name = mark_path(path), byte = (char)mark;
    int fd = name ? open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    /* An empty one stands for the worse. */
    if (fd >= 0) {
        if (pwrite(fd, &byte, 1, 0) != 1 && ftruncate(fd, 0) != 0)
            unlink(name);
        close(fd);
    }
    free(name);
}

static enum mark get_mark(const char *path)
{
    char *name = mark_path(path), byte = MARK_DOUBTED;
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool unchecked = fd >= 0 && pread(fd, &byte, 1, 0) == 1 && byte == MARK_UNCHECKED;
    if (fd >= 0)
        close(fd);
    free(name);
    return fd < 0 ? MARK_NONE : unchecked ? MARK_UNCHECKED : MARK_DOUBTED;
}

void store_doubt(const char *path)
{
    put_mark(path, MARK_DOUBTED);
}

bool store_is_doubted(const char *path)
{
    return get_mark(path) == MARK_DOUBTED;
}

void store_mark_unclean_end(const char *path)
{
    struct stat info;
    char *log = text_format("%s-wal", path);
    bool killed = !log || (stat(log, &info) == 0 && info.st_size > 0);
    free(log);
    if (killed && get_mark(path) == MARK_NONE)
        put_mark(path, MARK_UNCHECKED);
}

bool store_is_unchecked(const char *path)
{
    return get_mark(path) == MARK_UNCHECKED;
}

void store_trust(const char *path)
{
    char *mark = mark_path(path);
    if (mark)
        unlink(mark);
    free(mark);
}
