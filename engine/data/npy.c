/* SPDX-License-Identifier: MIT */
#include "engine/data/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/data/dataset.h"

#define HEADER_MOST 4096 /* bytes of the text before the numbers */

bool npy_error(const struct npy *npy, struct error *err, const char *text)
{
    return error_set(err, ERROR_FAILED, "%s: %s: %s", npy->path, npy->name, text);
}

/* What follows 'KEY': in the text of a dictionary, or NULL. */
static const char *value_of(const char *text, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(text, quoted);
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

/* '<f4': byte order, kind, bytes. */
static bool read_type(struct npy *npy, const char *value, struct error *err)
{
    static const union {
        uint16_t number;
        uint8_t first;
    } order = {1};
    char mark, end;
    if (!value || sscanf(value, "'%c%c%d%c", &mark, &npy->kind, &npy->bytes, &end) != 4 ||
        end != '\'' || !strchr("<>|=", mark))
        return npy_error(npy, err, "is no array of numbers");
    const bool wide = npy->bytes == 2 || npy->bytes == 4 || npy->bytes == 8;
    const bool known = npy->kind == 'f'   ? wide
                       : npy->kind == 'b' ? npy->bytes == 1
                                          : wide || npy->bytes == 1;
    if (!strchr("uifb", npy->kind) || !known)
        return npy_error(npy, err, "is no array of numbers of 1 to 8 bytes");
    npy->swapped = npy->bytes > 1 && (mark == '<' ? !order.first : mark == '>' && order.first);
    return true;
}

/* (60000, 28, 28) */
static bool read_shape(struct npy *npy, const char *value, struct error *err)
{
    npy->count = 1;
    if (!value || *value != '(')
        return npy_error(npy, err, "its shape cannot be read");
    for (value++; *value != ')'; value += strspn(value, ", ")) {
        char *end;
        if (*value < '0' || *value > '9' || npy->ndim == NPY_MOST_DIMS)
            return npy_error(npy, err, "its shape is not one to four numbers");
        long side = strtol(value, &end, 10);
        if (side < 1 || side > DATA_MAX_VALUES ||
            npy->count > (size_t)DATA_MAX_VALUES / (size_t)side)
            return npy_error(npy, err, "is empty, or too large");
        npy->dims[npy->ndim++] = side;
        npy->count *= (size_t)side;
        value = end;
    }
    return npy->ndim > 0 || npy_error(npy, err, "is a single number");
}

static bool read_header(struct npy *npy, uint64_t size, struct error *err)
{
    uint8_t begin[12];
    char text[HEADER_MOST + 1];
    if (!zip_reader_get(npy->reader, begin, 10, err))
        return false;
    if (memcmp(begin, "\x93NUMPY", 6) != 0 || begin[6] < 1 || begin[6] > 3)
        return npy_error(npy, err, "is no array in NumPy's format");
    const size_t extra = begin[6] > 1 ? 2 : 0;
    if (!zip_reader_get(npy->reader, begin + 10, extra, err))
        return false;
    size_t length = begin[8] | (size_t)begin[9] << 8;
    length |= extra ? (size_t)begin[10] << 16 | (size_t)begin[11] << 24 : 0;
    if (length > HEADER_MOST)
        return npy_error(npy, err, "its header is too long");
    if (!zip_reader_get(npy->reader, text, length, err))
        return false;
    text[length] = '\0';
    const char *fortran = value_of(text, "fortran_order");
    npy->fortran = fortran && strncmp(fortran, "True", 4) == 0;
    if (!read_type(npy, value_of(text, "descr"), err) ||
        !read_shape(npy, value_of(text, "shape"), err))
        return false;
    return npy->count * (size_t)npy->bytes == size - 10 - extra - length ||
           npy_error(npy, err, "its header promises another number of bytes than there are");
}

bool npy_open(const struct zip *zip, const char *name, struct npy *out, struct error *err)
{
    char *file = text_format("%s.npy", name);
    const struct zip_entry *entry = file ? zip_find(zip, file) : NULL;
    *out = (struct npy){.path = zip->path};
    bool ok = file || error_memory(err, name);
    free(file);
    if (ok && !entry)
        ok = error_set(err, ERROR_USAGE,
                       "%s: has no array %s: x_train, y_train, x_test and y_test are needed",
                       zip->path, name);
    if (!ok)
        return false;
    out->name = entry->name;
    return zip_reader_open(zip, entry, &out->reader, err) && read_header(out, entry->size, err);
}

static void swap_bytes(uint8_t *bytes, size_t count, int size)
{
    for (; count > 0; count--, bytes += size)
        for (int i = 0; i < size / 2; i++) {
            uint8_t kept = bytes[i];
            bytes[i] = bytes[size - 1 - i];
            bytes[size - 1 - i] = kept;
        }
}

bool npy_read(struct npy *npy, void *to, struct error *err)
{
    if (!zip_reader_get(npy->reader, to, npy->count * (size_t)npy->bytes, err))
        return false;
    if (npy->swapped)
        swap_bytes(to, npy->count, npy->bytes);
    return true;
}

void npy_close(struct npy *npy)
{
    zip_reader_close(npy->reader);
    npy->reader = NULL;
}
