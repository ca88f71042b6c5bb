/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

static bool read_fully(int fd, const char *path, char *data, size_t size, struct error *err)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = read(fd, data + have, size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, "%s: cannot read", path);
        if (got == 0)
            return error_set(err, ERROR_FAILED, "%s: became shorter while it was read", path);
        have += (size_t)got;
    }
    return true;
}

bool file_read(const char *path, size_t limit, char **data, size_t *length, struct error *err)
{
    struct stat info;
    /* O_NONBLOCK: a named pipe must be refused, not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return error_errno(err, "%s: cannot open", path);
    bool ok = false;
    char *buffer = NULL;
    if (fstat(fd, &info) != 0)
        error_errno(err, "%s: cannot stat", path);
    else if (!S_ISREG(info.st_mode))
        error_set(err, ERROR_FAILED, "%s: not a regular file", path);
    else if ((unsigned long long)info.st_size > limit)
        error_set(err, ERROR_FAILED, "%s: %lld bytes, more than the %zu this kind of file may have",
                  path, (long long)info.st_size, limit);
    else if (!(buffer = malloc((size_t)info.st_size + 1)))
        error_memory(err, path);
    else
        ok = read_fully(fd, path, buffer, (size_t)info.st_size, err);
    close(fd);
    if (!ok) {
        free(buffer);
        return false;
    }
    buffer[info.st_size] = '\0';
    *data = buffer;
    *length = (size_t)info.st_size;
    return true;
}

/* As many bytes of a file's name as leave room for the end of a temporary one's. */
enum { NAME_KEPT = NAME_MAX - 2 * (int)sizeof(".ffffffff") };

/*
 * A new file next to writer->path. Not by mkostemp: its files are 0600 whatever the umask says, and
 * the umask can only be read by setting it, which other threads would notice.
 */
static bool create_temporary(struct file_writer *writer, struct error *err)
{
    const char *slash = strrchr(writer->path, '/');
    const int folder = slash ? (int)(slash + 1 - writer->path) : 0;
    for (int attempt = 0; attempt < 100; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        char *name = text_format("%.*s.%lx-%lx", folder + NAME_KEPT, writer->path,
                                 (unsigned long)getpid(), (unsigned long)now.tv_nsec);
        if (!name)
            return error_memory(err, writer->path);
        writer->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->fd >= 0) {
            writer->temporary = name;
            return true;
        }
        free(name);
        if (errno != EEXIST)
            break;
    }
    return error_errno(err, "%s: cannot create a temporary file beside it", writer->path);
}

bool file_writer_open(struct file_writer *writer, const char *path, struct error *err)
{
    struct stat info;
    *writer = (struct file_writer)FILE_WRITER_INIT;
    /* To root a rename over /dev/null is as good as any. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return error_set(err, ERROR_FAILED, "%s: not a regular file: name another", path);
    writer->path = strdup(path);
    if (!writer->path)
        return error_memory(err, path);
    if (!create_temporary(writer, err)) {
        file_writer_abort(writer);
        return false;
    }
    return true;
}

int open_output(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat link;
    int fd = open(path, flags | O_NOFOLLOW, 0666);
    if (fd >= 0 || errno != ELOOP)
        return fd;
    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid != 0 &&
        link.st_uid != geteuid()) {
        errno = ELOOP;
        return -1;
    }
    return open(path, flags, 0666);
}

bool write_fully(int fd, const void *data, size_t length)
{
    const char *next = data;
    while (length) {
        ssize_t put = write(fd, next, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        next += put;
        length -= (size_t)put;
    }
    return true;
}

bool file_writer_put(struct file_writer *writer, const void *data, size_t length, struct error *err)
{
    return write_fully(writer->fd, data, length) ||
           error_errno(err, "%s: cannot write", writer->path);
}

bool sync_directory(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Some file systems cannot sync a directory (EINVAL); the rename is all they offer. */
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    if (!ok)
        error_errno(err, "%s: cannot sync this directory", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool sync_directory_of(const char *path, struct error *err)
{
    char *copy = strdup(path);
    if (!copy)
        return error_memory(err, path);
    char *slash = strrchr(copy, '/');
    if (slash)
        slash[slash == copy ? 1 : 0] = '\0';
    bool ok = sync_directory(slash ? copy : ".", err);
    free(copy);
    return ok;
}

bool file_writer_commit(struct file_writer *writer, struct error *err)
{
    bool ok = false;
    int fd = writer->fd;
    if (fsync(fd) != 0) {
        error_errno(err, "%s: cannot sync", writer->path);
    } else {
        writer->fd = -1;
        if (close(fd) != 0)
            error_errno(err, "%s: cannot close", writer->path);
        else if (rename(writer->temporary, writer->path) != 0)
            error_errno(err, "%s: cannot rename the finished file into place", writer->path);
        else
            ok = true;
    }
    if (ok) {
        free(writer->temporary);
        writer->temporary = NULL;
        ok = sync_directory_of(writer->path, err);
    }
    file_writer_abort(writer);
    return ok;
}

void file_writer_abort(struct file_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->temporary)
        unlink(writer->temporary);
    free(writer->temporary);
    free(writer->path);
    *writer = (struct file_writer)FILE_WRITER_INIT;
}

bool file_write(const char *path, struct text *text, struct error *err)
{
    struct file_writer writer = FILE_WRITER_INIT;
    bool ok =
        (text_cstr(text) || error_memory(err, path)) && file_writer_open(&writer, path, err) &&
        file_writer_put(&writer, text->data, text->length, err) && file_writer_commit(&writer, err);
    file_writer_abort(&writer);
    text_free(text);
    return ok;
}

bool make_directories(const char *path, unsigned mode, struct error *err)
{
    char *copy = strdup(path);
    if (!copy)
        return error_memory(err, path);
    bool ok = true;
    for (char *at = copy + 1; ok; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char saved = *at;
        *at = '\0';
        struct stat info;
        if (mkdir(copy, (mode_t)mode) != 0 &&
            (errno != EEXIST || stat(copy, &info) != 0 || !S_ISDIR(info.st_mode)))
            ok = error_errno(err, "%s: cannot make this directory", copy);
        *at = saved;
        if (saved == '\0')
            break;
    }
    free(copy);
    return ok;
}

char *path_join(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    return text_format("%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/",
                       name);
}

char *path_below(char *directory, const char *name, struct error *err)
{
    char *path = directory ? error_if_null(path_join(directory, name), err, name) : NULL;
    free(directory);
    return path;
}
