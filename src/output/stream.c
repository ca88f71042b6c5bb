/* SPDX-License-Identifier: MIT */
#include "output/stream.h"

#include <stdio.h>
#include <string.h>

#define GATHERED_BYTES ((size_t)64 << 10)

bool stream_open(struct stream *output, const char *path, struct error *err)
{
    *output = (struct stream)STREAM_INIT;
    if (path && path[0] == '\0')
        return error_set(err, ERROR_USAGE, "the name of the file to write is empty");
    return !path || strcmp(path, "-") == 0 || file_writer_open(&output->writer, path, err);
}

static bool write_text(struct stream *output, struct error *err)
{
    struct text *text = &output->text;
    if (text->failed)
        return error_memory(err, "output");
    if (output->writer.fd < 0)
        fwrite(text->data, 1, text->length, stdout);
    else if (!file_writer_put(&output->writer, text->data, text->length, err))
        return false;
    text->length = 0;
    return true;
}

bool stream_drain(struct stream *output, struct error *err)
{
    return (!output->text.failed && output->text.length < GATHERED_BYTES) ||
           write_text(output, err);
}

bool stream_close(struct stream *output, bool ok, struct error *err)
{
    ok = ok && write_text(output, err);
    if (ok && output->writer.fd >= 0)
        ok = file_writer_commit(&output->writer, err);
    file_writer_abort(&output->writer);
    text_free(&output->text);
    return ok;
}
