/* SPDX-License-Identifier: MIT */
#include "engine/fetch/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/data/bytes.h"
#include "engine/fetch/reporter.h"

/*
 * A reader of the old tar format (POSIX.1-1988 "ustar", section "ustar Interchange Format" of the
 * pax utility) that knows plain files in one folder and refuses everything else. Headers and
 * contents fill blocks of 512 bytes; a block of zeros ends the archive.
 */

#define BLOCK        512
#define MOST_MEMBERS 64
#define MOST_BYTES   ((int64_t)64 << 20) /* of a member; so at most 4 GiB in all */

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[8], owner[32], group[32], major[8], minor[8], prefix[155], padding[12];
};

struct archive {
    const char *path, *folder, *target;
    int directory; /* open on `target` */
    struct bytes *bytes;
    struct fetch_reporter *reporter;
    int64_t done; /* bytes written */
    int members;
};

static bool read_blocks(struct archive *archive, void *to, size_t length, struct error *err)
{
    size_t got;
    if (!bytes_read(archive->bytes, to, length, &got, err))
        return false;
    if (got < length)
        return error_set(err, ERROR_FAILED, "%s: the archive is cut off", archive->path);
    return true;
}

/* An octal number of spaces, digits, and a space or NUL. Base-256 numbers are not read. */
static bool octal(const char *field, size_t length, int64_t *value)
{
    size_t i = 0;
    *value = 0;
    while (i < length && field[i] == ' ')
        i++;
    size_t first = i;
    for (; i < length && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value * 8 + (field[i] - '0'); /* at most 12 digits */
    size_t digits = i - first;
    while (i < length && (field[i] == ' ' || field[i] == '\0'))
        i++;
    return digits > 0 && i == length;
}

static bool right_checksum(const struct header *header)
{
    const unsigned char *byte = (const unsigned char *)header;
    int64_t sum = 0, expected;
    size_t from = offsetof(struct header, checksum), to = from + sizeof header->checksum;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= from && i < to ? ' ' : byte[i];
    return octal(header->checksum, sizeof header->checksum, &expected) && sum == expected;
}

/* The part of a member's name after FOLDER/, or NULL if it is anything but a plain name there. */
static const char *name_in_folder(const char *name, const char *folder)
{
    size_t length = strlen(folder);
    if (strncmp(name, folder, length) != 0 || name[length] != '/')
        return NULL;
    name += length + 1;
    if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return NULL;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return NULL;
    return name;
}

static bool copy_member(struct archive *archive, int fd, const char *name, int64_t size,
                        struct error *err)
{
    char buffer[128 * BLOCK];
    while (size > 0) {
        size_t length = size < (int64_t)sizeof buffer ? (size_t)size : sizeof buffer;
        size_t padded = (length + BLOCK - 1) / BLOCK * BLOCK;
        if (!read_blocks(archive, buffer, padded, err))
            return false;
        if (!write_fully(fd, buffer, length))
            return error_errno(err, "%s/%s: cannot write", archive->target, name);
        size -= (int64_t)length;
        archive->done += (int64_t)length;
        if (!reporter_update(archive->reporter, archive->done, err))
            return false;
    }
    if (fsync(fd) != 0)
        return error_errno(err, "%s/%s: cannot sync", archive->target, name);
    return true;
}

static bool unpack_file(struct archive *archive, const char *name, int64_t size, struct error *err)
{
    if (size > MOST_BYTES)
        return error_set(err, ERROR_FAILED, "%s: its member %s has %lld bytes, more than %lld",
                         archive->path, name, (long long)size, (long long)MOST_BYTES);
    int fd = openat(archive->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0666);
    if (fd < 0 && errno == EEXIST)
        return error_set(err, ERROR_FAILED, "%s: its member %s is there twice", archive->path,
                         name);
    if (fd < 0)
        return error_errno(err, "%s/%s: cannot create", archive->target, name);
    bool ok = copy_member(archive, fd, name, size, err);
    if (close(fd) != 0 && ok)
        ok = error_errno(err, "%s/%s: cannot close", archive->target, name);
    return ok;
}

static bool unpack_member(struct archive *archive, const struct header *header, struct error *err)
{
    char full[sizeof header->name + 1], shown[4 * sizeof full];
    int64_t size;
    snprintf(full, sizeof full, "%.*s", (int)sizeof header->name, header->name);
    /* A hostile name must not reach a terminal as it is. */
    size_t used = 0;
    for (const char *c = full; *c; c++)
        used += (size_t)snprintf(shown + used, sizeof shown - used,
                                 *c < ' ' || *c == 0x7f ? "\\%03o" : "%c", (unsigned char)*c);
    shown[used] = '\0';
    if (!octal(header->size, sizeof header->size, &size))
        return error_set(err, ERROR_FAILED, "%s: its member %s has no readable size", archive->path,
                         shown);
    const char *name = header->prefix[0] ? NULL : name_in_folder(full, archive->folder);
    if (!name)
        return error_set(err, ERROR_FAILED, "%s: its member %s is not a file in %s/: refused",
                         archive->path, shown, archive->folder);
    if (++archive->members > MOST_MEMBERS)
        return error_set(err, ERROR_FAILED, "%s: more than %d members: refused", archive->path,
                         MOST_MEMBERS);
    if (!*name && header->type == '5' && size == 0)
        return true; /* the folder itself */
    if (!*name || (header->type != '0' && header->type != '\0'))
        return error_set(err, ERROR_FAILED,
                         "%s: its member %s is not a plain file (type %d): refused", archive->path,
                         shown, (unsigned char)header->type);
    return unpack_file(archive, name, size, err);
}

static bool unpack_all(struct archive *archive, struct error *err)
{
    static const char zeros[BLOCK];
    struct header header;
    _Static_assert(sizeof header == BLOCK, "a tar header is one block");
    for (;;) {
        if (!read_blocks(archive, &header, sizeof header, err))
            return false;
        if (memcmp(&header, zeros, BLOCK) == 0)
            return true;
        if (!right_checksum(&header))
            return error_set(err, ERROR_FAILED, "%s: not a tar archive, or damaged", archive->path);
        if (!unpack_member(archive, &header, err))
            return false;
    }
}

bool archive_unpack(const char *path, const char *folder, const char *target,
                    struct fetch_reporter *reporter, struct error *err)
{
    struct archive archive = {
        .path = path, .folder = folder, .target = target, .reporter = reporter};
    archive.directory = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (archive.directory < 0)
        return error_errno(err, "%s: cannot open", target);
    bool ok = bytes_open(path, &archive.bytes, err) && unpack_all(&archive, err);
    bytes_close(archive.bytes);
    if (ok && fsync(archive.directory) != 0 && errno != EINVAL)
        ok = error_errno(err, "%s: cannot sync", target);
    close(archive.directory);
    return ok;
}
