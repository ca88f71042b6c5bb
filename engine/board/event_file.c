/* SPDX-License-Identifier: MIT */
#include "engine/board/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Messages are gathered up to here before they are written anyway. */
#define WAITING_BYTES 65536

/* The wire format's types. */
enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* Fields of the messages Event, Summary and Summary.Value. */
enum {
    EVENT_WALL_TIME = 1,
    EVENT_STEP = 2,
    EVENT_FILE_VERSION = 3,
    EVENT_SUMMARY = 5,
    SUMMARY_VALUE = 1,
    VALUE_TAG = 1,
    VALUE_SIMPLE = 2,
    VALUE_METADATA = 9
};

/* Of SummaryMetadata and PluginData, and of what the plugin "hparams" has in there:
 * HParamsPluginData, SessionStartInfo, an entry of its map of settings, and google.protobuf.Value.
 */
enum {
    METADATA_PLUGIN = 1,
    PLUGIN_NAME = 1,
    PLUGIN_CONTENT = 2,
    HPARAMS_SESSION_START = 3,
    SESSION_HPARAMS = 1,
    SESSION_START_SECONDS = 5,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    KIND_NUMBER = 2,
    KIND_STRING = 3
};

uint32_t event_file_crc(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint32_t crc = 0xffffffffU;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
    }
    return ~crc;
}

/* As TFRecords store it: so that the checksum of data that hold checksums is still a good one. */
static uint32_t masked_crc(const void *data, size_t length)
{
    uint32_t crc = event_file_crc(data, length);
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

static void put_little_endian(struct text *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        char byte = (char)(value >> 8 * i & 0xff);
        text_append(out, &byte, 1);
    }
}

static void put_varint(struct text *out, uint64_t value)
{
    do {
        char byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        text_append(out, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_key(struct text *out, int field, enum wire wire)
{
    put_varint(out, (uint64_t)field << 3 | wire);
}

static void put_bytes(struct text *out, int field, const char *data, size_t length)
{
    put_key(out, field, WIRE_BYTES);
    put_varint(out, length);
    text_append(out, data, length);
}

/* A message within another; it is emptied. */
static void put_message(struct text *out, int field, struct text *message)
{
    out->failed |= message->failed;
    put_bytes(out, field, message->length ? message->data : "", message->length);
    text_consume(message, message->length);
}

static void put_double(struct text *out, int field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(out, field, WIRE_64);
    put_little_endian(out, bits, 8);
}

static void put_scalar(struct text *summary, struct text *value, const struct event_scalar *scalar)
{
    float number = (float)scalar->value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_bytes(value, VALUE_TAG, scalar->tag, strlen(scalar->tag));
    put_key(value, VALUE_SIMPLE, WIRE_32);
    put_little_endian(value, bits, 4);
    put_message(summary, SUMMARY_VALUE, value);
}

/* Length, its checksum, data, their checksum; `event` is released. */
static void put_record(struct event_file *file, struct text *event)
{
    struct text head = TEXT_INIT, *out = &file->waiting;
    put_little_endian(&head, event->length, 8);
    out->failed |= event->failed || head.failed;
    if (!out->failed) {
        text_append(out, head.data, head.length);
        put_little_endian(out, masked_crc(head.data, head.length), 4);
        text_append(out, event->data, event->length);
        put_little_endian(out, masked_crc(event->data, event->length), 4);
    }
    text_free(&head);
    text_free(event);
    if (out->failed || out->length >= WAITING_BYTES)
        event_file_flush(file);
}

bool event_file_open(struct event_file *file, const char *folder, double wall_time,
                     struct error *err)
{
    static const char version[] = "brain.Event:2";
    char host[256] = "";
    struct text event = TEXT_INIT;
    *file = (struct event_file)EVENT_FILE_INIT;
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0' || strchr(host, '/'))
        strcpy(host, "localhost");
    char *path = text_format("%s/events.out.tfevents.%010lld.%s.%ld", folder, (long long)wall_time,
                             host, (long)getpid());
    if (!path)
        return error_memory(err, folder);
    /* Of the same second and process, as when a run is exported twice: the newer one counts. */
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file->fd < 0)
        error_errno(err, "%s: cannot be made", path);
    free(path);
    if (file->fd < 0)
        return false;
    put_double(&event, EVENT_WALL_TIME, wall_time);
    put_bytes(&event, EVENT_FILE_VERSION, version, sizeof version - 1);
    put_record(file, &event);
    return true;
}

void event_file_put(struct event_file *file, double wall_time, int64_t step,
                    const struct event_scalar *scalars, size_t count)
{
    struct text event = TEXT_INIT, summary = TEXT_INIT, value = TEXT_INIT;
    if (file->fd < 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (!isnan(scalars[i].value))
            put_scalar(&summary, &value, &scalars[i]);
    if (summary.length > 0 || summary.failed) {
        put_double(&event, EVENT_WALL_TIME, wall_time);
        put_key(&event, EVENT_STEP, WIRE_VARINT);
        put_varint(&event, (uint64_t)step);
        put_message(&event, EVENT_SUMMARY, &summary);
        put_record(file, &event);
    }
    text_free(&summary);
    text_free(&value);
}

/* The innermost messages first. */
void event_file_put_settings(struct event_file *file, double wall_time,
                             const struct event_setting *settings, size_t count)
{
    static const char plugin_name[] = "hparams", tag[] = "_hparams_/session_start_info";
    struct text event = TEXT_INIT, outer = TEXT_INIT, middle = TEXT_INIT, inner = TEXT_INIT;
    if (file->fd < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (settings[i].word)
            put_bytes(&inner, KIND_STRING, settings[i].word, strlen(settings[i].word));
        else
            put_double(&inner, KIND_NUMBER, settings[i].number);
        put_bytes(&middle, ENTRY_KEY, settings[i].name, strlen(settings[i].name));
        put_message(&middle, ENTRY_VALUE, &inner);
        put_message(&outer, SESSION_HPARAMS, &middle);
    }
    put_double(&outer, SESSION_START_SECONDS, wall_time);
    put_message(&inner, HPARAMS_SESSION_START, &outer);
    put_bytes(&middle, PLUGIN_NAME, plugin_name, sizeof plugin_name - 1);
    put_message(&middle, PLUGIN_CONTENT, &inner);
    put_message(&inner, METADATA_PLUGIN, &middle);
    put_bytes(&outer, VALUE_TAG, tag, sizeof tag - 1);
    put_message(&outer, VALUE_METADATA, &inner);
    put_message(&middle, SUMMARY_VALUE, &outer);
    put_double(&event, EVENT_WALL_TIME, wall_time);
    put_message(&event, EVENT_SUMMARY, &middle);
    put_record(file, &event);
    text_free(&outer);
    text_free(&middle);
    text_free(&inner);
}

static void give_up(struct event_file *file)
{
    int reason = errno;
    /* Readers would stop at half a record. */
    bool whole = ftruncate(file->fd, file->length) == 0;
    errno = reason;
    error_errno(&file->failure,
                whole ? "the event file ends early" : "the event file ends early, within a record");
    text_free(&file->waiting);
    close(file->fd);
    file->fd = -1;
}

void event_file_flush(struct event_file *file)
{
    struct text *waiting = &file->waiting;
    if (file->fd < 0)
        return;
    errno = ENOMEM;
    if (waiting->failed ||
        (waiting->length && !write_fully(file->fd, waiting->data, waiting->length))) {
        give_up(file);
        return;
    }
    file->length += (off_t)waiting->length;
    text_consume(waiting, waiting->length);
}

void event_file_close(struct event_file *file)
{
    event_file_flush(file);
    text_free(&file->waiting);
    if (file->fd >= 0 && close(file->fd) != 0)
        error_errno(&file->failure, "the event file may be incomplete");
    file->fd = -1;
}
