/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/data/picture/codec.h"

/* Enough for the head of most files. */
#define HEAD_BYTES (64 << 10)

static const struct codec *const codecs[] = {&png_codec, &jpeg_codec};

void picture_reader_free(struct picture_reader *reader)
{
    free(reader->bytes);
    raster_free(&reader->stored);
    raster_free(&reader->turned);
    resizer_free(&reader->resizer);
    *reader = (struct picture_reader){0};
}

static bool reserve(struct picture_reader *reader, size_t size, struct error *err)
{
    if (size <= reader->capacity)
        return true;
    free(reader->bytes);
    reader->bytes = malloc(size);
    reader->capacity = reader->bytes ? size : 0;
    return reader->bytes || error_memory(err, "picture");
}

/* Up to `want` bytes; *out has fewer only at the end of the file. */
static bool read_bytes(int fd, size_t want, struct picture_reader *reader, struct coded *out,
                       struct error *err)
{
    if (!reserve(reader, want, err))
        return false;
    *out = (struct coded){reader->bytes, 0};
    while (out->size < want) {
        ssize_t got = pread(fd, reader->bytes + out->size, want - out->size, (off_t)out->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, "cannot read");
        if (got == 0)
            break;
        out->size += (size_t)got;
    }
    return true;
}

static bool choose_codec(const struct coded *from, const struct codec **out, struct error *err)
{
    static const struct {
        const char *begin, *name;
    } others[] = {{"GIF8", "GIF"}, {"BM", "BMP"}, {"RIFF", "WebP"},        {"II*", "TIFF"},
                  {"MM", "TIFF"},  {"<", "text"}, {"\xff\x0a", "JPEG XL"}, {"8BPS", "Photoshop"}};
    *out = NULL;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs && !*out; i++)
        if (from->size >= codecs[i]->signature_size &&
            memcmp(from->bytes, codecs[i]->signature, codecs[i]->signature_size) == 0)
            *out = codecs[i];
    if (*out)
        return true;
    if (from->size == 0)
        return error_set(err, ERROR_FAILED, "is empty");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (from->size > strlen(others[i].begin) &&
            memcmp(from->bytes, others[i].begin, strlen(others[i].begin)) == 0)
            return error_set(err, ERROR_FAILED, "holds %s, neither PNG nor JPEG", others[i].name);
    return error_set(err, ERROR_FAILED, "is neither PNG nor JPEG");
}

/* The file at `path`, for reading; its size. -1: *err. */
static int open_picture(const char *path, size_t *size, struct error *err)
{
    struct stat info;
    /* O_NONBLOCK: a named pipe must be refused, not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        error_errno(err, "cannot open");
        return -1;
    }
    if (fstat(fd, &info) != 0)
        error_errno(err, "cannot stat");
    else if (!S_ISREG(info.st_mode))
        error_set(err, ERROR_FAILED, "is not a regular file");
    else if (info.st_size > PICTURE_MOST_BYTES)
        error_set(err, ERROR_FAILED, "has %lld bytes, more than %ld", (long long)info.st_size,
                  PICTURE_MOST_BYTES);
    else {
        *size = (size_t)info.st_size;
        return fd;
    }
    close(fd);
    return -1;
}

static bool look(struct picture_reader *reader, int fd, size_t size, struct error *err)
{
    const struct codec *codec;
    struct coded from;
    struct error ignored = ERROR_INIT;
    if (!read_bytes(fd, size < HEAD_BYTES ? size : HEAD_BYTES, reader, &from, err) ||
        !choose_codec(&from, &codec, err))
        return false;
    if (size > HEAD_BYTES && codec->head(&from, &reader->stored, &ignored))
        return true;
    /* All of it: what is before the head may be long. */
    return (size <= HEAD_BYTES || read_bytes(fd, size, reader, &from, err)) &&
           codec->head(&from, &reader->stored, err);
}

bool picture_look(struct picture_reader *reader, const char *path, struct picture_shape *out,
                  struct error *err)
{
    size_t size;
    int fd = open_picture(path, &size, err);
    bool ok = fd >= 0 && look(reader, fd, size, err);
    if (fd >= 0)
        close(fd);
    if (!ok)
        return error_prefix(err, "%s", path);
    const bool aside = raster_is_on_its_side(&reader->stored);
    *out = (struct picture_shape){
        .width = aside ? reader->stored.height : reader->stored.width,
        .height = aside ? reader->stored.width : reader->stored.height,
        .coloured = reader->stored.coloured,
    };
    return true;
}

/* Decoded and turned; *out is one of the reader's own. */
static bool decode(struct picture_reader *reader, int fd, size_t size, int height, int width,
                   const struct raster **out, struct error *err)
{
    const struct codec *codec;
    struct coded from;
    struct raster *stored = &reader->stored;
    if (!read_bytes(fd, size, reader, &from, err) || !choose_codec(&from, &codec, err))
        return false;
    /* Its orientation is not known yet: enough for both. */
    const int most = width > height ? width : height;
    const bool square = width == height;
    if (!codec->decode(&from, square ? width : most, square ? height : most, stored, err))
        return false;
    *out = stored;
    if (stored->orientation == 1)
        return true;
    *out = &reader->turned;
    return raster_turn(stored, &reader->turned, err);
}

bool picture_read(struct picture_reader *reader, const char *path, int channels, int height,
                  int width, uint8_t *out, struct error *err)
{
    const struct raster *upright = NULL;
    size_t size;
    int fd = open_picture(path, &size, err);
    bool ok = fd >= 0 && decode(reader, fd, size, height, width, &upright, err) &&
              resize_cover(&reader->resizer, upright, width, height, channels, out, err);
    if (fd >= 0)
        close(fd);
    return ok || error_prefix(err, "%s", path);
}
