/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_OUTPUT_OUTPUT_H
#define DPARTUI_OUTPUT_OUTPUT_H

#include <stdbool.h>

#include "base/file.h"
#include "base/text.h"

/*
 * What a command writes, into a file that appears whole or not at all, or to standard output.
 * Append to `text`, and call output_drain from time to time: it writes what has gathered, so that
 * memory does not grow with the output.
 */
struct output {
    struct text text;
    struct file_writer writer; /* fd -1: standard output */
};

#define OUTPUT_INIT                                                                                \
    {                                                                                              \
        .writer = FILE_WRITER_INIT                                                                 \
    }

/* `path`: NULL or "-" for standard output. */
bool output_open(struct output *output, const char *path, struct error *err);
bool output_drain(struct output *output, struct error *err);
/* Write the rest; unless `ok`, drop it and the file. True: `ok`, and all was written. Whether
 * standard output took it is looked at when the program ends. */
bool output_close(struct output *output, bool ok, struct error *err);

#endif
