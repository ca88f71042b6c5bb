/* SPDX-License-Identifier: MIT */
#include "engine/weights/safetensors.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/weights/checksum.h"

static bool read_at(const struct safetensors *file, uint64_t offset, void *data, size_t size,
                    struct error *err)
{
    char *bytes = data;
    size_t have = 0;
    while (have < size) {
        ssize_t got = pread(file->fd, bytes + have, size - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, "%s: cannot read", file->path);
        if (got == 0)
            return error_set(err, ERROR_FAILED, "%s: became shorter while it was read", file->path);
        have += (size_t)got;
    }
    return true;
}

static bool open_regular(struct safetensors *file, const char *path, uint64_t *size,
                         struct error *err)
{
    struct stat info;
    file->path = strdup(path);
    if (!file->path)
        return error_memory(err, path);
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not to wait for a FIFO's writer */
    if (file->fd < 0)
        return error_errno(err, "%s: cannot open", path);
    if (fstat(file->fd, &info) != 0)
        return error_errno(err, "%s: cannot stat", path);
    if (!S_ISREG(info.st_mode))
        return error_set(err, ERROR_FAILED, "%s: not a regular file", path);
    *size = (uint64_t)info.st_size;
    return true;
}

static bool check_checksum(struct safetensors *file, const char *text, size_t length,
                           struct error *err)
{
    const json_t *metadata = json_object_get(file->header, "__metadata__");
    if (!checksum_present(metadata))
        return true;
    file->checksums = metadata;
    return checksum_check_header(metadata, file->path, text, length, err);
}

/* Parse the header's text of `length` bytes that starts at byte 8. */
static bool parse_header(struct safetensors *file, size_t length, struct error *err)
{
    char *text = malloc(length);
    if (!text)
        return error_memory(err, file->path);
    bool ok = read_at(file, sizeof(uint64_t), text, length, err);
    if (ok && text[0] != '{')
        ok =
            error_set(err, ERROR_FAILED,
                      "%s: not a safetensors file: its header does not begin with '{'", file->path);
    if (ok) {
        json_error_t why;
        file->header = json_read(text, length, JSON_REJECT_DUPLICATES, &why);
        if (!file->header)
            ok = error_set(err, ERROR_FAILED, "%s: bad safetensors header: %s (at byte %d)",
                           file->path, why.text, why.position);
    }
    ok = ok && check_checksum(file, text, length, err);
    free(text);
    return ok;
}

static bool read_header(struct safetensors *file, uint64_t size, struct error *err)
{
    uint64_t length;
    if (size < sizeof length)
        return error_set(err, ERROR_FAILED, "%s: not a safetensors file: only %llu byte%s",
                         file->path, (unsigned long long)size, plural((double)size));
    if (!read_at(file, 0, &length, sizeof length, err))
        return false;
    length = le64toh(length);
    if (length > SAFETENSORS_HEADER_LIMIT)
        return error_set(err, ERROR_FAILED,
                         "%s: not a safetensors file: its header would have %llu bytes, more than "
                         "the %llu allowed",
                         file->path, (unsigned long long)length,
                         (unsigned long long)SAFETENSORS_HEADER_LIMIT);
    if (length < 2 || length > size - sizeof length)
        return error_set(err, ERROR_FAILED,
                         "%s: truncated or not a safetensors file: a header of %llu byte%s in a "
                         "file of %llu",
                         file->path, (unsigned long long)length, plural((double)length),
                         (unsigned long long)size);
    file->data_start = sizeof length + length;
    file->data_size = size - file->data_start;
    return parse_header(file, (size_t)length, err);
}

/* Bytes of one number of a type; 0: no such type. */
static unsigned type_size(const char *dtype)
{
    static const struct {
        const char *name;
        unsigned size;
    } types[] = {
        {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
        {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
        {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, dtype) == 0)
            return types[i].size;
    return 0;
}

static bool entry_error(const struct safetensors *file, const char *name, struct error *err,
                        const char *what)
{
    return error_set(err, ERROR_FAILED, "%s: '%.200s': %s", file->path, name, what);
}

/* A whole number that is not negative. */
static bool take_size(const json_t *value, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static bool take_shape(const json_t *shape, struct safetensors_entry *entry)
{
    if (!json_is_array(shape) || json_array_size(shape) > SAFETENSORS_MAX_DIMS)
        return false;
    entry->ndim = (int)json_array_size(shape);
    for (int i = 0; i < entry->ndim; i++)
        if (!take_size(json_array_get(shape, (size_t)i), &entry->dims[i]))
            return false;
    return true;
}

/* What is wrong with an entry; NULL: nothing. */
static const char *take_entry(const struct safetensors *file, const json_t *object,
                              struct safetensors_entry *entry)
{
    const json_t *offsets = json_object_get(object, "data_offsets");
    entry->dtype = json_string_value(json_object_get(object, "dtype"));
    if (!entry->dtype || json_object_size(object) != 3)
        return "an entry must have dtype, shape and data_offsets and nothing else";
    uint64_t bytes = type_size(entry->dtype);
    if (bytes == 0)
        return "unknown dtype";
    if (!take_shape(json_object_get(object, "shape"), entry))
        return "shape must be an array of at most 8 whole numbers, none negative";
    if (json_array_size(offsets) != 2 || !take_size(json_array_get(offsets, 0), &entry->begin) ||
        !take_size(json_array_get(offsets, 1), &entry->end))
        return "data_offsets must be two whole numbers, none negative";
    if (entry->begin > entry->end || entry->end > file->data_size)
        return "its data_offsets lie outside the file: truncated?";
    for (int i = 0; i < entry->ndim; i++)
        if (__builtin_mul_overflow(bytes, entry->dims[i], &bytes))
            return "its shape is absurdly large";
    return bytes == entry->end - entry->begin ? NULL : "its shape and its data_offsets disagree";
}

/* `__metadata__` maps strings to strings. */
static bool check_metadata(const struct safetensors *file, json_t *metadata, struct error *err)
{
    const char *key;
    json_t *value;
    bool ok = json_is_object(metadata);
    json_object_foreach(metadata, key, value) ok = ok && json_is_string(value);
    return ok || entry_error(file, "__metadata__", err, "must map strings to strings");
}

static bool take_entries(struct safetensors *file, struct error *err)
{
    const char *name;
    json_t *value;
    file->entries = calloc(json_object_size(file->header) + 1, sizeof *file->entries);
    if (!file->entries)
        return error_memory(err, file->path);
    json_object_foreach(file->header, name, value)
    {
        if (strcmp(name, "__metadata__") == 0) {
            if (!check_metadata(file, value, err))
                return false;
            continue;
        }
        struct safetensors_entry *entry = &file->entries[file->count++];
        entry->name = name;
        const char *wrong = take_entry(file, value, entry);
        if (wrong)
            return entry_error(file, name, err, wrong);
    }
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct safetensors_entry *left = a, *right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    return (left->end > right->end) - (left->end < right->end);
}

static int by_name(const void *a, const void *b)
{
    const struct safetensors_entry *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* The tensors must cover the data exactly. */
static bool check_cover(struct safetensors *file, struct error *err)
{
    uint64_t at = 0;
    qsort(file->entries, file->count, sizeof *file->entries, by_offset);
    for (size_t i = 0; i < file->count; i++) {
        const struct safetensors_entry *entry = &file->entries[i];
        if (entry->begin < at)
            return entry_error(file, entry->name, err, "overlaps another entry");
        if (entry->begin > at)
            return entry_error(file, entry->name, err, "a hole in the file stands before it");
        at = entry->end;
    }
    if (at != file->data_size)
        return error_set(err, ERROR_FAILED, "%s: %llu byte%s at its end belong%s to no entry",
                         file->path, (unsigned long long)(file->data_size - at),
                         plural((double)(file->data_size - at)),
                         file->data_size - at == 1 ? "s" : "");
    return true;
}

bool safetensors_open(struct safetensors *file, const char *path, struct error *err)
{
    uint64_t size = 0;
    *file = (struct safetensors)SAFETENSORS_INIT;
    if (!open_regular(file, path, &size, err) || !read_header(file, size, err) ||
        !take_entries(file, err) || !check_cover(file, err))
        return false;
    qsort(file->entries, file->count, sizeof *file->entries, by_name);
    return true;
}

const struct safetensors_entry *safetensors_find(const struct safetensors *file, const char *name)
{
    const struct safetensors_entry key = {.name = name};
    return bsearch(&key, file->entries, file->count, sizeof key, by_name);
}

bool safetensors_read(const struct safetensors *file, const struct safetensors_entry *entry,
                      void *data, struct error *err)
{
    size_t size = (size_t)(entry->end - entry->begin);
    return read_at(file, file->data_start + entry->begin, data, size, err) &&
           (!file->checksums || checksum_check(file->checksums, file->path, entry->name,
                                               checksum_add(0, data, size), err));
}

static bool verify_entry(const struct safetensors *file, const struct safetensors_entry *entry,
                         struct error *err)
{
    char buffer[65536];
    uint32_t crc = 0;
    for (uint64_t at = entry->begin, now; at < entry->end; at += now) {
        now = entry->end - at < sizeof buffer ? entry->end - at : sizeof buffer;
        if (!read_at(file, file->data_start + at, buffer, (size_t)now, err))
            return false;
        crc = checksum_add(crc, buffer, (size_t)now);
    }
    return !file->checksums || checksum_check(file->checksums, file->path, entry->name, crc, err);
}

bool safetensors_verify(const struct safetensors *file, struct error *err)
{
    for (size_t i = 0; i < file->count; i++)
        if (!verify_entry(file, &file->entries[i], err))
            return false;
    return true;
}

void safetensors_close(struct safetensors *file)
{
    if (file->fd >= 0)
        close(file->fd);
    json_decref(file->header);
    free(file->entries);
    free(file->path);
    *file = (struct safetensors)SAFETENSORS_INIT;
}

bool safetensors_describe(json_t *header, const char *name, const char *dtype, const int *dims,
                          int ndim, uint64_t begin, uint64_t end, uint32_t crc, struct error *err)
{
    json_t *shape = json_array();
    for (int i = 0; i < ndim; i++)
        if (json_array_append_new(shape, json_integer(dims[i])) != 0)
            ndim = -1;
    if (ndim < 0) {
        json_decref(shape);
        return error_memory(err, "safetensors header");
    }
    json_t *entry = json_pack("{s:s,s:o,s:[I,I]}", "dtype", dtype, "shape", shape, "data_offsets",
                              (json_int_t)begin, (json_int_t)end);
    if (json_object_set_new(header, name, entry) != 0 ||
        !checksum_note(json_object_get(header, "__metadata__"), name, crc))
        return error_memory(err, "safetensors header");
    return true;
}

bool safetensors_put_header(struct file_writer *writer, json_t *header, struct error *err)
{
    if (!checksum_reserve(json_object_get(header, "__metadata__")))
        return error_memory(err, "safetensors header");
    char *text = json_to_text(header, JSON_COMPACT);
    size_t length = text ? strlen(text) : 0, padded = (length + 7) / 8 * 8;
    char *whole = text ? realloc(text, padded + 1) : NULL;
    if (!whole) {
        free(text);
        return error_memory(err, "safetensors header");
    }
    memset(whole + length, ' ', padded - length);
    checksum_seal(whole, padded);
    uint64_t stored = htole64((uint64_t)padded);
    bool ok = file_writer_put(writer, &stored, sizeof stored, err) &&
              file_writer_put(writer, whole, padded, err);
    free(whole);
    return ok;
}
