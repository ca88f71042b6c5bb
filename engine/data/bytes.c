/* SPDX-License-Identifier: MIT */
#include "engine/data/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text.h"

/* A deflate stream of n bytes holds at most about 1032 n (zlib's technical details). */
#define DEFLATE_MOST 1040

struct bytes {
    int fd;
    char *path;
    uint64_t size;       /* of the file */
    uint64_t out;        /* bytes handed out so far, for messages */
    bool packed, inited; /* gzip; inflateInit2 was called */
    bool end_of_file;    /* nothing left after `in` */
    bool end_of_member;  /* the gzip trailer was read and was right */
    z_stream stream;     /* next_in, avail_in: the unread part of `in`, packed or not */
    unsigned char in[1 << 16];
};

/* Get at least two bytes into `in` (to look at a gzip magic), or all that is left. */
static bool fill(struct bytes *bytes, struct error *err)
{
    z_stream *s = &bytes->stream;
    while (s->avail_in < 2 && !bytes->end_of_file) {
        if (s->avail_in)
            bytes->in[0] = s->next_in[0];
        ssize_t got = read(bytes->fd, bytes->in + s->avail_in, sizeof bytes->in - s->avail_in);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, "%s: cannot read", bytes->path);
        s->next_in = bytes->in;
        s->avail_in += (unsigned)got;
        bytes->end_of_file = got == 0;
    }
    return true;
}

static bool at_gzip_magic(const struct bytes *bytes)
{
    const z_stream *s = &bytes->stream;
    return s->avail_in >= 2 && s->next_in[0] == 0x1f && s->next_in[1] == 0x8b;
}

static bool open_regular(struct bytes *bytes, struct error *err)
{
    struct stat info;
    /* O_NONBLOCK: a named pipe must be refused, not waited for. */
    bytes->fd = open(bytes->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (bytes->fd < 0)
        return error_errno(err, "%s: cannot open", bytes->path);
    if (fstat(bytes->fd, &info) != 0)
        return error_errno(err, "%s: cannot stat", bytes->path);
    if (!S_ISREG(info.st_mode))
        return error_set(err, ERROR_FAILED, "%s: %s, not a regular file", bytes->path,
                         S_ISDIR(info.st_mode) ? "a directory" : "a special file");
    bytes->size = (uint64_t)info.st_size;
    return true;
}

bool bytes_open(const char *path, struct bytes **out, struct error *err)
{
    struct bytes *bytes = calloc(1, sizeof *bytes);
    if (!bytes)
        return error_memory(err, path);
    bytes->fd = -1;
    bytes->path = strdup(path);
    bool ok = bytes->path ? open_regular(bytes, err) && fill(bytes, err) : error_memory(err, path);
    if (ok && at_gzip_magic(bytes)) {
        bytes->packed = true;
        bytes->inited = inflateInit2(&bytes->stream, 15 + 16) == Z_OK;
        if (!bytes->inited)
            ok = error_memory(err, path);
    }
    if (!ok) {
        bytes_close(bytes);
        return false;
    }
    *out = bytes;
    return true;
}

static void copy_some(struct bytes *bytes, unsigned char *to, size_t want, size_t *got)
{
    z_stream *s = &bytes->stream;
    *got = want < s->avail_in ? want : s->avail_in;
    memcpy(to, s->next_in, *got);
    s->next_in += *got;
    s->avail_in -= (unsigned)*got;
}

static bool inflate_some(struct bytes *bytes, unsigned char *to, size_t want, size_t *got,
                         struct error *err)
{
    z_stream *s = &bytes->stream;
    if (bytes->end_of_member) {
        if (!at_gzip_magic(bytes))
            return error_set(err, ERROR_FAILED, "%s: trailing bytes after the gzip data",
                             bytes->path);
        bytes->end_of_member = false;
        if (inflateReset(s) != Z_OK)
            return error_set(err, ERROR_FAILED, "%s: zlib cannot begin a gzip member", bytes->path);
    }
    size_t step = want < (1u << 30) ? want : (1u << 30); /* avail_out is an unsigned int */
    s->next_out = to;
    s->avail_out = (unsigned)step;
    int status = inflate(s, Z_NO_FLUSH);
    *got = step - s->avail_out;
    bytes->end_of_member = status == Z_STREAM_END;
    if (status == Z_MEM_ERROR)
        return error_memory(err, bytes->path);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return error_set(err, ERROR_FAILED, "%s: damaged gzip data after %llu byte%s (%s)",
                         bytes->path, (unsigned long long)(bytes->out + *got),
                         plural((double)(bytes->out + *got)),
                         s->msg ? s->msg : "zlib gives no reason");
    if (status == Z_BUF_ERROR && *got == 0 && bytes->end_of_file)
        return error_set(err, ERROR_FAILED,
                         "%s: the gzip data are cut off: the file ends after %llu unpacked byte%s",
                         bytes->path, (unsigned long long)bytes->out, plural((double)bytes->out));
    return true;
}

bool bytes_read(struct bytes *bytes, void *to, size_t want, size_t *got, struct error *err)
{
    unsigned char *next = to;
    *got = 0;
    while (*got < want) {
        size_t some = 0;
        if (!fill(bytes, err))
            return false;
        if (!bytes->packed) {
            if (!bytes->stream.avail_in)
                break;
            copy_some(bytes, next, want - *got, &some);
        } else {
            if (bytes->end_of_member && !bytes->stream.avail_in)
                break;
            if (!inflate_some(bytes, next, want - *got, &some, err))
                return false;
        }
        next += some;
        *got += some;
        bytes->out += some;
    }
    return true;
}

uint64_t bytes_bound(const struct bytes *bytes)
{
    return bytes->packed ? bytes->size * DEFLATE_MOST : bytes->size;
}

void bytes_close(struct bytes *bytes)
{
    if (!bytes)
        return;
    if (bytes->inited)
        inflateEnd(&bytes->stream);
    if (bytes->fd >= 0)
        close(bytes->fd);
    free(bytes->path);
    free(bytes);
}
