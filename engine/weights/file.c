/* SPDX-License-Identifier: MIT */
#include "engine/weights/file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/weights/checksum.h"
#include "engine/weights/normalization.h"
#include "engine/weights/safetensors.h"
#include "engine/weights/stored.h"

#define MODULE_PREFIX "module."

static bool has_prefix(const char *name)
{
    return strncmp(name, MODULE_PREFIX, strlen(MODULE_PREFIX)) == 0;
}

/* What DataParallel put before every name: "" or "module.". */
static bool find_prefix(const struct safetensors *file, const struct stored_list *list,
                        const char **prefix, struct error *err)
{
    size_t prefixed = 0;
    bool own = false; /* the network itself uses such names */
    for (size_t i = 0; i < file->count; i++)
        prefixed += has_prefix(file->entries[i].name);
    for (size_t i = 0; i < list->count; i++)
        own = own || has_prefix(list->items[i].name);
    if (!own && prefixed > 0 && prefixed < file->count)
        return error_set(err, ERROR_FAILED,
                         "%s: some names begin with '" MODULE_PREFIX "' and others do not: all "
                         "must or none",
                         file->path);
    *prefix = !own && prefixed > 0 ? MODULE_PREFIX : "";
    return true;
}

static void print_shape(struct text *text, const uint64_t *dims, int ndim)
{
    text_puts(text, "[");
    for (int i = 0; i < ndim; i++)
        text_printf(text, "%s%llu", i ? "," : "", (unsigned long long)dims[i]);
    text_puts(text, "]");
}

/* Type and shape of an entry against what the network has there. */
static bool check_entry(const struct safetensors *file, const struct safetensors_entry *entry,
                        const struct stored *item, struct error *err)
{
    const char *dtype = item->param ? "F32" : "I64";
    int ndim = item->param ? item->param->ndim : 0;
    uint64_t dims[4] = {0};
    bool same = entry->ndim == ndim;
    for (int i = 0; i < ndim; i++) {
        dims[i] = (uint64_t)item->param->dims[i];
        same = same && entry->dims[i] == dims[i];
    }
    if (strcmp(entry->dtype, dtype) != 0)
        return error_set(err, ERROR_FAILED, "%s: '%s' is of type %s, expected %s", file->path,
                         entry->name, entry->dtype, dtype);
    if (same)
        return true;
    struct text text = TEXT_INIT;
    print_shape(&text, entry->dims, entry->ndim);
    text_puts(&text, ", expected ");
    print_shape(&text, dims, ndim);
    const char *shapes = text_cstr(&text);
    error_set(err, ERROR_FAILED, "%s: '%s' has shape %s", file->path, entry->name,
              shapes ? shapes : "other than expected");
    text_free(&text);
    return false;
}

/* Every item has its entry: `found`, one per item. */
static bool match_items(const struct net *net, const struct safetensors *file,
                        const struct stored_list *list, const char *prefix,
                        const struct safetensors_entry **found, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        char *name = text_format("%s%s", prefix, list->items[i].name);
        if (!name)
            return error_memory(err, file->path);
        found[i] = safetensors_find(file, name);
        free(name);
        if (!found[i])
            return error_set(err, ERROR_FAILED, "%s: '%s' is missing, which the network '%s' has",
                             file->path, list->items[i].name, net->name);
        if (!check_entry(file, found[i], &list->items[i], err))
            return false;
    }
    return true;
}

/* No entry is left over. */
static bool refuse_others(const struct net *net, const struct safetensors *file,
                          const struct stored_list *list, size_t prefix_length, struct error *err)
{
    for (size_t i = 0; file->count != list->count && i < file->count; i++) {
        const char *name = file->entries[i].name + prefix_length;
        size_t at = 0;
        while (at < list->count && strcmp(list->items[at].name, name) != 0)
            at++;
        if (at == list->count)
            return error_set(err, ERROR_FAILED, "%s: '%.200s' is not in the network '%s'",
                             file->path, file->entries[i].name, net->name);
    }
    return true;
}

static bool read_param(const struct safetensors *file, const struct safetensors_entry *entry,
                       const struct net_param *param, float *values, struct error *err)
{
    _Static_assert(sizeof(float) == sizeof(uint32_t), "F32 is the float of this machine");
    if (!safetensors_read(file, entry, values, err))
        return false;
    for (size_t i = 0; i < param->count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = le32toh(bits);
        memcpy(&values[i], &bits, sizeof bits);
    }
    return true;
}

/* The counters of a network are equal unless somebody froze layers: the largest counts. */
static bool read_counter(const struct safetensors *file, const struct safetensors_entry *entry,
                         int64_t *largest, struct error *err)
{
    uint64_t bits;
    if (!safetensors_read(file, entry, &bits, err))
        return false;
    int64_t value = (int64_t)le64toh(bits);
    if (value < 0)
        return error_set(err, ERROR_FAILED, "%s: '%s' is negative", file->path, entry->name);
    if (value > *largest)
        *largest = value;
    return true;
}

static bool read_items(const struct safetensors *file, const struct stored_list *list,
                       const struct safetensors_entry *const *found, struct weights *weights,
                       struct error *err)
{
    weights->batches_tracked = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct net_param *param = list->items[i].param;
        if (!(param
                  ? read_param(file, found[i], param, weights->values + list->items[i].offset, err)
                  : read_counter(file, found[i], &weights->batches_tracked, err)))
            return false;
    }
    return true;
}

/* Of a file that says what it has: that these are other weights, which explains the rest. */
static bool explain(const struct net *net, const struct safetensors *file, struct error *err)
{
    const json_t *metadata = json_object_get(file->header, "__metadata__");
    const char *text = json_string_value(json_object_get(metadata, "dpartui"));
    json_t *note = text ? json_read(text, strlen(text), 0, NULL) : NULL;
    const char *model = json_string_value(json_object_get(note, "model"));
    const char *data = json_string_value(json_object_get(note, "data"));
    struct error why = *err;
    const size_t known = strlen(file->path) + strlen(": ");
    if (model && data && strlen(why.text) > known)
        error_set(
            err, why.kind,
            "%s: weights of %s, trained on %s, do not fit the network '%s' for these data: %s",
            file->path, model, data, net->name, why.text + known);
    json_decref(note);
    return false;
}

static bool read_file(const struct net *net, const char *path, const struct stored_list *list,
                      bool whole, struct weights *weights, struct error *err)
{
    struct safetensors file = SAFETENSORS_INIT;
    const struct safetensors_entry **found = NULL;
    const char *prefix = "";
    bool ok = safetensors_open(&file, path, err) && find_prefix(&file, list, &prefix, err);
    if (ok) {
        found = calloc(list->count + 1, sizeof *found);
        ok = found || error_memory(err, path);
    }
    ok = ok &&
         ((match_items(net, &file, list, prefix, found, err) &&
           (!whole || refuse_others(net, &file, list, strlen(prefix), err))) ||
          explain(net, &file, err)) &&
         read_items(&file, list, found, weights, err);
    free(found);
    safetensors_close(&file);
    return ok;
}

bool weights_read(const struct net *net, const char *path, struct weights *weights,
                  struct error *err)
{
    struct stored_list list;
    bool ok = stored_weights(net, &list, err) && read_file(net, path, &list, true, weights, err);
    stored_free(&list);
    return ok;
}

static bool find_arrays(const char *path, const struct state_arrays *arrays,
                        bool found[STATE_ARRAYS], bool *whole, struct error *err)
{
    struct safetensors file = SAFETENSORS_INIT;
    bool ok = safetensors_open(&file, path, err);
    *whole = ok && stored_arrays(&file, arrays, found);
    safetensors_close(&file);
    return ok;
}

static bool read_arrays(const struct net *net, const char *path, const struct state_arrays *arrays,
                        bool whole, float *values, struct error *err)
{
    struct stored_list list;
    struct weights weights = {.values = values};
    bool ok =
        stored_state(net, arrays, &list, err) && read_file(net, path, &list, whole, &weights, err);
    stored_free(&list);
    return ok;
}

bool state_read(const struct net *net, const char *path, const struct state_arrays *arrays,
                float *values, bool found[STATE_ARRAYS], struct error *err)
{
    bool whole;
    if (!find_arrays(path, arrays, found, &whole, err))
        return false;
    if (whole)
        return read_arrays(net, path, arrays, true, values, err);
    for (int i = 0; i < arrays->count; i++) {
        const struct state_arrays one = {1, {arrays->names[i]}};
        if (found[i] &&
            !read_arrays(net, path, &one, false, values + (size_t)i * net->value_count, err))
            return false;
    }
    return true;
}

bool weights_read_note(const char *path, char **note, struct error *err)
{
    struct safetensors file = SAFETENSORS_INIT;
    if (!safetensors_open(&file, path, err)) {
        safetensors_close(&file);
        return false;
    }
    const json_t *metadata = json_object_get(file.header, "__metadata__");
    const char *text = json_string_value(json_object_get(metadata, "dpartui"));
    bool ok = text || error_set(err, ERROR_ABSENT, "%s: was not written as a checkpoint", path);
    if (ok) {
        *note = strdup(text);
        ok = *note || error_memory(err, path);
    }
    safetensors_close(&file);
    return ok;
}

/* The next numbers as they are in the file: as many of `count` as a chunk holds. */
#define CHUNK 4096

static size_t to_chunk(uint32_t chunk[CHUNK], const float *values, size_t count)
{
    size_t now = count < CHUNK ? count : CHUNK;
    memcpy(chunk, values, now * sizeof *chunk);
    for (size_t i = 0; i < now; i++)
        chunk[i] = htole32(chunk[i]);
    return now;
}

static bool put_values(struct file_writer *writer, const float *values, size_t count,
                       struct error *err)
{
    uint32_t chunk[CHUNK];
    for (size_t done = 0, now; done < count; done += now) {
        now = to_chunk(chunk, values + done, count - done);
        if (!file_writer_put(writer, chunk, now * sizeof *chunk, err))
            return false;
    }
    return true;
}

static uint32_t checksum_of(const struct stored *item, const struct weights *weights)
{
    uint32_t chunk[CHUNK], crc = 0;
    uint64_t counter = htole64((uint64_t)weights->batches_tracked);
    const struct net_param *param = item->param;
    if (!param)
        return checksum_add(0, &counter, sizeof counter);
    for (size_t done = 0, now; done < param->count; done += now) {
        now = to_chunk(chunk, weights->values + item->offset + done, param->count - done);
        crc = checksum_add(crc, chunk, now * sizeof *chunk);
    }
    return crc;
}

/*
 * The header lists entries in module order; the counters' bytes come first all the same, so that
 * every number is aligned in the file and readers can map it.
 */
static bool make_header(const struct stored_list *list, const struct weights *weights,
                        json_t *header, struct error *err)
{
    uint64_t counter_at = 0, param_at = list->counters * sizeof(int64_t);
    for (size_t i = 0; i < list->count; i++) {
        const struct stored *item = &list->items[i];
        const struct net_param *param = item->param;
        uint64_t *at = param ? &param_at : &counter_at;
        uint64_t end = *at + (param ? param->count * sizeof(float) : sizeof(int64_t));
        if (!safetensors_describe(header, item->name, param ? "F32" : "I64",
                                  param ? param->dims : NULL, param ? param->ndim : 0, *at, end,
                                  checksum_of(item, weights), err))
            return false;
        *at = end;
    }
    return true;
}

static bool put_counters(struct file_writer *writer, size_t count, int64_t value, struct error *err)
{
    uint64_t bits = htole64((uint64_t)value);
    for (size_t i = 0; i < count; i++)
        if (!file_writer_put(writer, &bits, sizeof bits, err))
            return false;
    return true;
}

/* In the order of the entries, which is that of the canonical arena. */
static bool put_items(struct file_writer *writer, const struct stored_list *list,
                      const struct weights *weights, struct error *err)
{
    if (!put_counters(writer, list->counters, weights->batches_tracked, err))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct net_param *param = list->items[i].param;
        if (param &&
            !put_values(writer, weights->values + list->items[i].offset, param->count, err))
            return false;
    }
    return true;
}

/* `net`: whose weights they are, which carry its normalization; NULL: something else. */
static json_t *new_header(const struct net *net, const char *note)
{
    json_t *metadata = json_pack("{s:s, s:s*}", "format", "pt", "dpartui", note);
    json_t *header = json_pack("{s:O}", "__metadata__", metadata);
    if (header && net)
        header = json_kept_if(normalization_note(net, metadata), header);
    json_decref(metadata);
    return header;
}

/* Releases the header. */
static bool write_file(const char *path, const struct stored_list *list,
                       const struct weights *weights, json_t *header, struct error *err)
{
    struct file_writer writer = FILE_WRITER_INIT;
    bool ok = (header || error_memory(err, path)) && make_header(list, weights, header, err) &&
              file_writer_open(&writer, path, err) &&
              safetensors_put_header(&writer, header, err) &&
              put_items(&writer, list, weights, err) && file_writer_commit(&writer, err);
    file_writer_abort(&writer);
    json_decref(header);
    return ok;
}

bool weights_write(const struct net *net, const char *path, const struct weights *weights,
                   const char *note, struct error *err)
{
    struct stored_list list;
    bool ok = stored_weights(net, &list, err) &&
              write_file(path, &list, weights, new_header(net, note), err);
    stored_free(&list);
    return ok;
}

bool state_write(const struct net *net, const char *path, const struct state_arrays *arrays,
                 const float *values, struct error *err)
{
    struct stored_list list;
    /* Only read from. */
    const struct weights weights = {.values = (float *)(uintptr_t)values};
    bool ok = stored_state(net, arrays, &list, err) &&
              write_file(path, &list, &weights, new_header(NULL, NULL), err);
    stored_free(&list);
    return ok;
}
