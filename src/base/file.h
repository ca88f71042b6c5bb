/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/*
 * Read a whole regular file of at most `limit` bytes. *data is a new buffer with a NUL after the
 * last byte; the caller frees it.
 */
bool file_read(const char *path, size_t limit, char **data, size_t *length, struct error *err);

/* All of it, in as many writes as it takes; false with errno. */
bool write_fully(int fd, const void *data, size_t length);

/*
 * Open a file that the user named, to write it from the beginning: created when missing, else
 * emptied. A symbolic link is followed only if it is the user's own or root's: in a folder where
 * others may make files, theirs could lead to any file of the user's. Does not wait for the reader
 * of a named pipe. The descriptor, or -1 with errno (ELOOP: another's link).
 */
int open_output(const char *path);

/* So that a file renamed into this directory is there after a crash. */
bool sync_directory(const char *path, struct error *err);

/*
 * A file that appears whole or not at all: it is written under a temporary name next to `path`,
 * synced, renamed over `path`, and the directory is synced. Usage:
 *     file_writer_open -> file_writer_put ... -> file_writer_commit
 * What is there and no regular file (a directory, a device, a pipe) is refused and stays.
 * file_writer_abort removes the temporary file; it may be called after any failure and after
 * commit, where it does nothing.
 */
struct file_writer {
    int fd;
    char *path, *temporary;
};

#define FILE_WRITER_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

bool file_writer_open(struct file_writer *writer, const char *path, struct error *err);
bool file_writer_put(struct file_writer *writer, const void *data, size_t length,
                     struct error *err);
bool file_writer_commit(struct file_writer *writer, struct error *err);
void file_writer_abort(struct file_writer *writer);
/* Such a file of a text, which is freed; the error, too, when an append to that had failed. */
bool file_write(const char *path, struct text *text, struct error *err);

/* Make `path` and its parents (mode as mkdir's); existing directories are fine. */
bool make_directories(const char *path, unsigned mode, struct error *err);

/* "DIR/NAME" in a new string the caller frees; NULL when memory ran out. */
char *path_join(const char *directory, const char *name);
/* The same of a directory that is freed, with an error; NULL, of which *err is told, stays NULL. */
char *path_below(char *directory, const char *name, struct error *err);
