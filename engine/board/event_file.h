/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/*
 * A file of scalars that TensorBoard reads: TFRecords, each an `Event` message of
 * tensorflow/core/util/event.proto in protocol buffers' wire format. Records are gathered and
 * written by event_file_flush. When they cannot be (a full disk, say) the file keeps its whole
 * records, writing ends, and `failure` says why.
 */
struct event_file {
    int fd; /* -1: not open */
    off_t length;
    struct text waiting;
    struct error failure; /* kind ERROR_NONE: none */
};

#define EVENT_FILE_INIT                                                                            \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

struct event_scalar {
    const char *tag; /* "train/loss" */
    double value;    /* NAN: left out */
};

/* A setting of a run: a word or, where that is NULL, a number. */
struct event_setting {
    const char *name, *word;
    double number;
};

/* Create a file with a new name in `folder`, which exists; `wall_time` as below. */
bool event_file_open(struct event_file *file, const char *folder, double wall_time,
                     struct error *err);
/* `wall_time` is in seconds since 1970. */
void event_file_put(struct event_file *file, double wall_time, int64_t step,
                    const struct event_scalar *scalars, size_t count);
/* What a run was started with, for TensorBoard's page of hyperparameters. */
void event_file_put_settings(struct event_file *file, double wall_time,
                             const struct event_setting *settings, size_t count);
/* Write what has been gathered. */
void event_file_flush(struct event_file *file);
/* Flush and close; may be called again. */
void event_file_close(struct event_file *file);

/* CRC-32C (Castagnoli; RFC 3720, B.4). */
uint32_t event_file_crc(const void *data, size_t length);
