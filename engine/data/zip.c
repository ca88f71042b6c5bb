/* SPDX-License-Identifier: MIT */
#include "engine/data/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define END_BYTES     22 /* of the record at the archive's end, without its comment */
#define LOCATOR_BYTES 20 /* before it, where there are 64-bit sizes: where their record is */
#define END64_BYTES   56 /* that record */
#define ENTRY_BYTES   46 /* of the list, without name, extra fields and comment */
#define LOCAL_BYTES   30 /* of a file's own header, likewise */
#define LIST_MOST     (16 << 20)
#define COMMENT_MOST  65535
#define DEFLATE_MOST  1040 /* a deflate stream of n bytes holds at most about 1032 n */
#define STEP_MOST     (1u << 30)

static uint64_t number(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static bool bad(const struct zip *zip, const char *what, struct error *err)
{
    return error_set(err, ERROR_FAILED, "%s: damaged archive: %s", zip->path, what);
}

static bool read_at(const struct zip *zip, uint64_t at, void *to, size_t size, struct error *err)
{
    if (at > zip->size || size > zip->size - at)
        return bad(zip, "it is cut off", err);
    for (size_t got = 0; got < size;) {
        ssize_t some = pread(zip->fd, (char *)to + got, size - got, (off_t)(at + got));
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return error_errno(err, "%s: cannot read", zip->path);
        if (some == 0)
            return error_set(err, ERROR_FAILED, "%s: became shorter while it was read", zip->path);
        got += (size_t)some;
    }
    return true;
}

/* The sizes of 64 bits that an entry has where its own are all ones. */
static bool read_wide(const struct zip *zip, const uint8_t *extra, size_t size,
                      struct zip_entry *entry, struct error *err)
{
    uint64_t *const fields[] = {&entry->size, &entry->packed, &entry->header};
    while (size >= 4) {
        size_t length = (size_t)number(extra + 2, 2);
        if (length > size - 4)
            break;
        const uint8_t *next = extra + 4, *end = next + length;
        for (size_t i = 0; number(extra, 2) == 1 && i < sizeof fields / sizeof *fields; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (end - next < 8)
                return bad(zip, "a 64-bit size is missing", err);
            *fields[i] = number(next, 8);
            next += 8;
        }
        extra = end;
        size -= 4 + length;
    }
    return true;
}

/* An entry of the list at `at`; *used: its bytes. */
static bool read_entry(const struct zip *zip, const uint8_t *at, size_t left, size_t *used,
                       struct zip_entry *out, struct error *err)
{
    if (left < ENTRY_BYTES || number(at, 4) != 0x02014b50)
        return bad(zip, "its list of files cannot be read", err);
    size_t name = (size_t)number(at + 28, 2), extra = (size_t)number(at + 30, 2);
    *used = ENTRY_BYTES + name + extra + (size_t)number(at + 32, 2);
    if (*used > left)
        return bad(zip, "its list of files is cut off", err);
    *out = (struct zip_entry){
        .name = strndup((const char *)at + ENTRY_BYTES, name),
        .method = (int)number(at + 10, 2),
        .crc = (uint32_t)number(at + 16, 4),
        .packed = number(at + 20, 4),
        .size = number(at + 24, 4),
        .header = number(at + 42, 4),
    };
    if (!out->name)
        return error_memory(err, zip->path);
    bool ok = read_wide(zip, at + ENTRY_BYTES + name, extra, out, err);
    if (ok && (number(at + 8, 2) & 1))
        ok = error_set(err, ERROR_FAILED, "%s: %s is encrypted", zip->path, out->name);
    if (!ok)
        free(out->name);
    return ok;
}

static bool read_list(struct zip *zip, uint64_t at, uint64_t size, uint64_t count,
                      struct error *err)
{
    if (size > LIST_MOST || count > size / ENTRY_BYTES)
        return bad(zip, "its list of files cannot be read", err);
    uint8_t *list = calloc(size + 1, 1); /* ends with a zero, so that names do */
    zip->entries = calloc(count + 1, sizeof *zip->entries);
    bool ok = (list && zip->entries) || error_memory(err, zip->path);
    ok = ok && read_at(zip, at, list, size, err);
    size_t next = 0, used = 0;
    for (; ok && zip->count < count; next += used) {
        ok = read_entry(zip, list + next, size - next, &used, &zip->entries[zip->count], err);
        zip->count += ok;
    }
    free(list);
    return ok;
}

/* The list that the record `end` at `place` names, or the one of 64-bit sizes that lies before
 * it. */
static bool follow_end(struct zip *zip, const uint8_t *end, uint64_t place, struct error *err)
{
    uint64_t count = number(end + 10, 2), size = number(end + 12, 4), list = number(end + 16, 4);
    uint8_t locator[LOCATOR_BYTES] = {0}, wide[END64_BYTES];
    if (place >= LOCATOR_BYTES &&
        !read_at(zip, place - LOCATOR_BYTES, locator, sizeof locator, err))
        return false;
    if (number(locator, 4) == 0x07064b50) {
        if (!read_at(zip, number(locator + 8, 8), wide, sizeof wide, err))
            return false;
        count = number(wide + 32, 8);
        size = number(wide + 40, 8);
        list = number(wide + 48, 8);
    }
    return read_list(zip, list, size, count, err);
}

/* The record is the last thing in the archive but a comment. */
static bool find_list(struct zip *zip, struct error *err)
{
    size_t tail = zip->size < END_BYTES + COMMENT_MOST ? zip->size : END_BYTES + COMMENT_MOST;
    uint8_t *bytes = malloc(tail + 1);
    if (!bytes)
        return error_memory(err, zip->path);
    bool ok = read_at(zip, zip->size - tail, bytes, tail, err);
    size_t after = tail < END_BYTES ? 0 : tail - END_BYTES + 1;
    while (ok && after > 0 && number(bytes + after - 1, 4) != 0x06054b50)
        after--;
    if (ok && after == 0)
        ok = error_set(err, ERROR_FAILED, "%s: is no ZIP archive, or cut off", zip->path);
    ok = ok && follow_end(zip, bytes + after - 1, zip->size - tail + after - 1, err);
    free(bytes);
    return ok;
}

bool zip_open(const char *path, struct zip *out, struct error *err)
{
    struct stat info;
    *out = (struct zip){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .path = strdup(path)};
    if (!out->path)
        return error_memory(err, path);
    if (out->fd < 0)
        return error_errno(err, "%s: cannot open", path);
    if (fstat(out->fd, &info) != 0)
        return error_errno(err, "%s: cannot stat", path);
    if (!S_ISREG(info.st_mode))
        return error_set(err, ERROR_FAILED, "%s: is not a regular file", path);
    out->size = (uint64_t)info.st_size;
    return find_list(out, err);
}

void zip_close(struct zip *zip)
{
    for (size_t i = 0; i < zip->count; i++)
        free(zip->entries[i].name);
    free(zip->entries);
    free(zip->path);
    if (zip->fd >= 0)
        close(zip->fd);
    *zip = (struct zip){.fd = -1};
}

const struct zip_entry *zip_find(const struct zip *zip, const char *name)
{
    for (size_t i = 0; i < zip->count; i++)
        if (strcmp(zip->entries[i].name, name) == 0)
            return &zip->entries[i];
    return NULL;
}

struct zip_reader {
    const struct zip *zip;
    const struct zip_entry *entry;
    uint64_t at, left; /* packed bytes not yet read, and where */
    uint64_t wanted;   /* unpacked bytes not yet given */
    unsigned long crc;
    bool inited;
    z_stream stream;
    uint8_t in[1 << 16];
};

bool zip_reader_open(const struct zip *zip, const struct zip_entry *entry, struct zip_reader **out,
                     struct error *err)
{
    uint8_t local[LOCAL_BYTES];
    if (entry->method != 0 && entry->method != 8)
        return error_set(err, ERROR_FAILED,
                         "%s: %s is compressed by method %d: write it by numpy.savez or "
                         "savez_compressed",
                         zip->path, entry->name, entry->method);
    if (!read_at(zip, entry->header, local, sizeof local, err))
        return false;
    uint64_t at = entry->header + LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    if (number(local, 4) != 0x04034b50 || at > zip->size || entry->packed > zip->size - at ||
        (entry->method == 0 ? entry->packed != entry->size
                            : entry->size / DEFLATE_MOST > entry->packed))
        return bad(zip, "a file in it is not where its list says", err);
    struct zip_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return error_memory(err, zip->path);
    reader->zip = zip;
    reader->entry = entry;
    reader->at = at;
    reader->left = entry->packed;
    reader->wanted = entry->size;
    reader->crc = crc32(0, NULL, 0);
    reader->inited = entry->method == 8 && inflateInit2(&reader->stream, -15) == Z_OK;
    if (entry->method == 8 && !reader->inited) {
        free(reader);
        return error_memory(err, zip->path);
    }
    *out = reader;
    return true;
}

static bool inflate_some(struct zip_reader *reader, uint8_t *to, size_t size, size_t *got,
                         struct error *err)
{
    z_stream *s = &reader->stream;
    if (s->avail_in == 0 && reader->left > 0) {
        size_t some = reader->left < sizeof reader->in ? reader->left : sizeof reader->in;
        if (!read_at(reader->zip, reader->at, reader->in, some, err))
            return false;
        reader->at += some;
        reader->left -= some;
        s->next_in = reader->in;
        s->avail_in = (unsigned)some;
    }
    size_t step = size < STEP_MOST ? size : STEP_MOST;
    s->next_out = to;
    s->avail_out = (unsigned)step;
    int status = inflate(s, Z_NO_FLUSH);
    *got = step - s->avail_out;
    if (status == Z_MEM_ERROR)
        return error_memory(err, reader->zip->path);
    if ((status == Z_OK && (*got || reader->left || s->avail_in)) ||
        (*got && status == Z_STREAM_END))
        return true;
    return bad(reader->zip, reader->entry->name, err);
}

bool zip_reader_get(struct zip_reader *reader, void *to, size_t size, struct error *err)
{
    if (size > reader->wanted)
        return bad(reader->zip, reader->entry->name, err);
    for (size_t done = 0, some = 0; done < size; done += some) {
        uint8_t *next = (uint8_t *)to + done;
        some = size - done < STEP_MOST ? size - done : STEP_MOST;
        if (reader->inited ? !inflate_some(reader, next, some, &some, err)
                           : !read_at(reader->zip, reader->at, next, some, err))
            return false;
        reader->at += reader->inited ? 0 : some;
        reader->crc = crc32(reader->crc, next, (unsigned)some);
    }
    reader->wanted -= size;
    return reader->wanted > 0 || (uint32_t)reader->crc == reader->entry->crc ||
           error_set(err, ERROR_FAILED, "%s: damaged archive: the checksum of %s does not agree",
                     reader->zip->path, reader->entry->name);
}

void zip_reader_close(struct zip_reader *reader)
{
    if (reader && reader->inited)
        inflateEnd(&reader->stream);
    free(reader);
}
