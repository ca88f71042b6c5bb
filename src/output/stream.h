/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/file.h"
#include "base/text.h"

/*
 * What a command writes, into a file that appears whole or not at all, or to standard output.
 * Append to `text`, and call stream_drain from time to time: it writes what has gathered, so that
 * memory does not grow with the output.
 */
struct stream {
    struct text text;
    struct file_writer writer; /* fd -1: standard output */
};

#define STREAM_INIT                                                                                \
    {                                                                                              \
        .writer = FILE_WRITER_INIT                                                                 \
    }

/* `path`: NULL or "-" for standard output. */
bool stream_open(struct stream *output, const char *path, struct error *err);
bool stream_drain(struct stream *output, struct error *err);
/* Write the rest; unless `ok`, drop it and the file. True: `ok`, and all was written. Whether
 * standard output took it is looked at when the program ends. */
bool stream_close(struct stream *output, bool ok, struct error *err);
